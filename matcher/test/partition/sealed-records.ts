import { openSignOffKey, type SignOffKey } from '@pm/domain/signoff/keys';
import { sealEnvelope } from '@pm/domain/signoff/records';
import { openRecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { rules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { opening, partition } from '../core/commands.ts';
import { RandomLog } from '../core/random-log.ts';

export { partition };

/** The registry has only our own schemas. */
const noOther = async () => null;

export const codecs = {
  // As main.ts opens it: the memory of decoded commands is used again for the next record.
  orders: openRecordCodec(topics.orders.value, 1, noOther, ['PlaceOrder', 'CancelOrder']),
  executions: openRecordCodec(topics.executions.value, 2, noOther),
  deadLetters: openRecordCodec(topics.deadLetters.value, 3, noOther),
};

export const keys = {
  operator: openSignOffKey(Buffer.alloc(32, 1)),
  owner: openSignOffKey(Buffer.alloc(32, 2)),
  ingress: openSignOffKey(Buffer.alloc(32, 3)),
  stranger: openSignOffKey(Buffer.alloc(32, 4)),
};

let sequence = 0;

/** A record of `orders`, signed. */
export function sealed(key: SignOffKey, commands: readonly Command[], to = partition): Buffer {
  sequence += 1;
  return sealEnvelope(codecs.orders, key, { partition: to, sequence, commands });
}

export const openingCommand: Command = { ...opening, operatorKey: keys.operator.publicKey };

/** The newest rules under which a partition is owned without a claim: by who is placed first. */
export const rulesWithoutClaims = rules.ownerTerms - 1;

/** The first records of a partition: its opening, the owner's and an ingress's key. */
export function openingRecords(version = rulesWithoutClaims): readonly Buffer[] {
  const setKey = (key: SignOffKey, role: 'OWNER' | 'INGRESS'): Command => ({
    kind: 'SetKey',
    publicKey: key.publicKey,
    role,
    active: true,
  });
  return [
    sealed(keys.operator, [openingCommand, { kind: 'SetRules', version }]),
    sealed(keys.operator, [setKey(keys.owner, 'OWNER'), setKey(keys.ingress, 'INGRESS')]),
  ];
}

/** A seeded stream of signed records that visits every rule. */
export function randomRecords(seed: number, count: number): readonly Buffer[] {
  const log = new RandomLog(seed);
  const records: Buffer[] = [];
  while (records.length < count) {
    const { envelope, isOperator } = log.next();
    const isTick = envelope.commands.every((command) => command.kind === 'Tick');
    // An ingress bears witness, so that the clock may leap.
    if (isTick) records.push(sealed(keys.ingress, envelope.commands));
    const key = isOperator ? keys.operator : isTick ? keys.owner : keys.ingress;
    records.push(sealed(key, envelope.commands));
  }
  return records.slice(0, count);
}

export function executionOf(value: Buffer | null): Execution {
  if (value === null) throw new Error('an execution has a value');
  return codecs.executions.decode(value);
}
