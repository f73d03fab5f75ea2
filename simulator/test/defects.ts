/**
 * Protections that can be removed, each named by what then happens. They are removed in the models, or in wrappers
 * around the real code: no source has a switch.
 */
export const defectNames = [
  // Brokers and groups.
  'acknowledged before it is replicated',
  'records are read before they are replicated',
  'a leader is elected that lacks acknowledged records',
  'a former owner may commit',
  // Matchers.
  'the clock of the process moves the partition',
  'outputs bear the time of their owner',
  'commands of a record are applied in any order',
  'a repeated order is another order',
  'an order is booked however late it is',
  'a cancel by id holds no order on its way',
  'an order with a limit of its own is booked before a tick judges it',
  'what was booked while the clock stood stays',
  'an order needs no reservation',
  'a split needs no reservation',
  'an old reservation counts after the loss of the ledger',
  // Ingress.
  'a send whose outcome is unknown counts as not sent',
  'a withdrawal whose record may be written is taken back',
  'an order without a result in time counts as not sent',
  'an order is confirmed before its result',
  // Clients.
  'a lost answer counts as an order that was not sent',
  'a client forgets what is in doubt',
  'a refusal of one attempt counts for all',
  // The ledger.
  'money is reserved that is not there',
  'a withdrawal holds money that is not there',
  'a gap in the executions is not noticed',
  'holds are released while their orders are on the way',
  'holds without orders are never released',
  'a transfer counts as often as it comes',
  'a withdrawal of an earlier generation is paid',
  'a lost ledger stays open',
  'another run of Redis is not noticed',
  // Tables.
  'an insert that is repeated counts twice',
  'a token outlives its server',
  'a batch is committed before it is written',
  'the range of a batch is not remembered',
  'positions are not restored',
  'candles are not restored',
] as const;

export type Defect = (typeof defectNames)[number];
export type Defects = ReadonlySet<Defect>;

export const noDefects: Defects = new Set();
