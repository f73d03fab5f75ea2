import { type Command, type Envelope, type KeyRole, rules } from '@pm/schemas';

/**
 * Commands that each role may sign. The operator's `CancelOrders` closes markets, an ingress's cancels for its users.
 */
const allowed: Readonly<Record<KeyRole, readonly Command['kind'][]>> = {
  INGRESS: [
    'PlaceOrder',
    'CancelOrder',
    'CancelOrders',
    'SplitPosition',
    'MergePosition',
    'RedeemPosition',
  ],
  OWNER: ['Tick'],
  OPERATOR: [
    'OpenPartition',
    'SetKey',
    'SetMarket',
    'ResolveMarket',
    'StartGeneration',
    'CancelOrders',
    'SetTradingMode',
    'SetRules',
  ],
  LEDGER: ['StartGeneration'],
};

/** Whether a key of this role may sign every command of the envelope, under these rules of the log. */
export function roleAllows(role: KeyRole, envelope: Envelope, version: number): boolean {
  const mayWitness = role === 'INGRESS' && version >= rules.witnessedClock;
  return envelope.commands.every(
    ({ kind }) => allowed[role].includes(kind) || (mayWitness && kind === 'Tick'),
  );
}
