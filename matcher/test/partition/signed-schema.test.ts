import { sealEnvelope } from '@pm/domain/signoff/records';
import { openRecordCodec } from '@pm/kit/registry';
import { toAvroJson } from '@pm/schemas/avro/schema';
import { newestRules, rules } from '@pm/schemas/log/log-rules';
import type { Command } from '@pm/schemas/log/orders';
import { topics } from '@pm/schemas/log/topics';
import { UsedSequences } from '../../src/core/rules/used-sequences.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import { keys, partition } from './sealed-records.ts';

const own = topics.orders.value;
/** A schema that reads the same bytes as commands of other names: what a forged registry would answer. */
const swapped = JSON.parse(
  JSON.stringify(toAvroJson(own)).replaceAll('CancelOrder"', 'Other"'),
) as unknown;
const cancel: Command = {
  kind: 'CancelOrder',
  orderId: Buffer.alloc(32, 1),
  signer: Buffer.alloc(20, 2),
};
const ingress = {
  publicKey: keys.ingress.publicKey,
  role: 'INGRESS',
  active: true,
  used: new UsedSequences(),
} as const;

/** Result of reading a record by a reader whose registry has this schema under the id 7. */
async function readWith(json: unknown, version: number, value: Buffer) {
  const codec = openRecordCodec(own, 1, async () => json);
  const reader = new EnvelopeReader({ partition, operatorKey: keys.operator.publicKey, codec });
  const clock = { operatorKey: () => null, timeMs: 0, witnessMs: 0 };
  const state = { opened: true, rules: version, newestRules, signOffKey: () => ingress, ...clock };
  const first = reader.read(state, value);
  if (first.kind !== 'schema_unknown') return first;
  await codec.prepare(value);
  return reader.read(state, value, { isPrepared: true });
}

/** Written under the schema 7. */
const codec = openRecordCodec(own, 7, async () => null);
const content = { partition, sequence: 9, commands: [cancel] };
const value = sealEnvelope(codec, keys.ingress, content);
/** As older versions signed: the bytes alone. */
const plain = sealEnvelope(
  { encode: (one) => codec.encode(one), fingerprint: Buffer.alloc(0) },
  keys.ingress,
  content,
);

describe('an envelope is signed together with its schema', () => {
  test('and is read with that schema', async () => {
    const read = await readWith(toAvroJson(own), newestRules, value);
    expect(read).toMatchObject({
      kind: 'accepted',
      envelope: { commands: [{ kind: 'CancelOrder' }] },
    });
  });

  test.each<[string, unknown]>([
    ['another schema', swapped],
    ['no schema', null],
    ['what is no schema', { type: 'record' }],
  ])('and is rejected where the registry has %s under its id', async (_, json) => {
    expect(await readWith(json, newestRules, value)).toMatchObject({ reason: 'BAD_SIGNATURE' });
  });

  test('and is read once its schema is registered, whatever named the id before', async () => {
    let json: unknown = null;
    const codec = openRecordCodec(own, 1, async () => json);
    const reader = new EnvelopeReader({ partition, operatorKey: keys.operator.publicKey, codec });
    const clock = { operatorKey: () => null, timeMs: 0, witnessMs: 0 };
    const state = {
      opened: true,
      rules: newestRules,
      newestRules,
      signOffKey: () => ingress,
      ...clock,
    };
    await codec.prepare(value);
    expect(reader.read(state, value, { isPrepared: true })).toMatchObject({
      reason: 'BAD_SIGNATURE',
    });
    json = toAvroJson(own);
    expect(reader.read(state, value)).toEqual({ kind: 'schema_unknown' });
    await codec.prepare(value);
    expect(reader.read(state, value, { isPrepared: true })).toMatchObject({ kind: 'accepted' });
  });

  test('under the rules of older logs a signature over the bytes alone holds, and later no more', async () => {
    const json = toAvroJson(own);
    const before = rules.signedSchema - 1;
    expect(await readWith(json, before, plain)).toMatchObject({ kind: 'accepted' });
    expect(await readWith(json, before, value)).toMatchObject({ kind: 'accepted' });
    expect(await readWith(json, rules.signedSchema, plain)).toMatchObject({
      reason: 'BAD_SIGNATURE',
    });
  });
});
