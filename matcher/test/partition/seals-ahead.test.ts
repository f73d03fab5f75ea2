import { verifyInPool } from '@pm/domain/signoff/verify-in-pool.io';
import { Random } from '@pm/kit/random';
import { newestRules } from '@pm/schemas/log/log-rules';
import { runLength } from '../../../kit/test/long-runs.ts';
import { Engine } from '../../src/core/index.ts';
import { UsedSequences } from '../../src/core/rules/used-sequences.ts';
import { EnvelopeReader } from '../../src/partition/envelope-reader.ts';
import {
  firstPosition,
  type InputRecord,
  RecordProcessor,
} from '../../src/partition/record-processor.ts';
import { SealsAhead } from '../../src/partition/seals-ahead.io.ts';
import type { SignaturePool } from '../../src/partition/signature-pool.io.ts';
import { processPrepared } from '../../src/partition/slices.io.ts';
import { KeyHistory } from './key-history.ts';
import { codecs, keys, openingCommand, partition, sealed } from './sealed-records.ts';

/** Without limits: a test is no measure of time. */
const pool: Pick<SignaturePool, 'check'> = {
  check: ({ key, bytes, signature }) => verifyInPool(key, bytes, signature),
};

function readerOf(): EnvelopeReader {
  const operatorKey = keys.operator.publicKey;
  return new EnvelopeReader({ partition, operatorKey, codec: codecs.orders });
}

function processorOf(): RecordProcessor {
  const parts = { partition, reader: readerOf(), executions: codecs.executions };
  return new RecordProcessor(parts, firstPosition(new Engine(partition)));
}

/** Records of keys that are set and removed all the time; every fifth one is changed after it was signed. */
function recordsOf(seed: number, count: number): readonly InputRecord[] {
  const random = new Random(seed);
  const history = new KeyHistory(seed);
  const values = [history.seal(keys.operator, [openingCommand])];
  while (values.length < count) {
    const { key, commands } = history.next();
    const value = history.seal(key, commands);
    if (random.below(5) === 0) value.writeUInt8(random.below(256), random.below(value.length));
    values.push(value);
  }
  return values.map((value, offset) => ({ offset, value }));
}

const histories = runLength({ test: 2, deep: 10 });

test('a batch checked ahead has the same outputs as its records one by one, whatever happens to keys', async () => {
  let ahead = 0;
  for (let seed = 1; seed <= histories; seed += 1) {
    const random = new Random(seed);
    const records = recordsOf(seed, 400);
    const [plain, checking] = [processorOf(), processorOf()];
    for (let from = 0; from < records.length; ) {
      const batch = records.slice(from, from + random.integer(1, 40));
      const seals = new SealsAhead(checking, batch, pool);
      for (const [at, record] of batch.entries()) {
        const checked = await seals.of(at);
        ahead += checked === null ? 0 : 1;
        const output =
          checking.process(record, { checked }) ??
          (await processPrepared(checking, record, codecs.orders));
        const expected = await processPrepared(plain, record, codecs.orders);
        expect(output.value.equals(expected.value)).toBe(true);
      }
      from += batch.length;
    }
    expect(checking.engine.encodeState()).toEqual(plain.engine.encodeState());
  }
  expect(ahead).toBeGreaterThan(100 * histories);
});

test('the first record of a batch is left to the reader, and a limited number is checked at once', () => {
  const asked: number[] = [];
  const processor = {
    sealAhead: ({ offset }: InputRecord) => {
      asked.push(offset);
      return null;
    },
  };
  const records = Array.from({ length: 20 }, (_, offset) => ({ offset, value: null }));
  const seals = new SealsAhead(processor, records, pool);
  expect(seals.of(0)).toBeNull();
  expect(asked).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  seals.of(1);
  expect(asked.at(-1)).toBe(9);
  for (let at = 2; at < 20; at += 1) seals.of(at);
  expect(asked).toEqual(Array.from({ length: 19 }, (_, at) => at + 1));
});

describe('a check that was made ahead', () => {
  const { publicKey } = keys.ingress;
  const ingress = { publicKey, role: 'INGRESS', active: true, used: new UsedSequences() } as const;
  const state = {
    opened: true,
    rules: newestRules,
    newestRules,
    signOffKey: () => ingress,
    operatorKey: () => null,
    timeMs: 0,
    witnessMs: 0,
  };
  const { fingerprint } = codecs.orders;
  const forged = sealed(keys.stranger, []);
  keys.ingress.keyId.copy(forged, 5 + 64);

  test('takes the place of the check by its own key and schema', () => {
    const checked = { publicKey, fingerprint, holds: false };
    expect(readerOf().read(state, sealed(keys.ingress, []), { checked })).toMatchObject({
      reason: 'BAD_SIGNATURE',
    });
  });

  test.each([
    ['key', { publicKey: keys.stranger.publicKey, fingerprint, holds: true }],
    ['schema', { publicKey, fingerprint: Buffer.alloc(32), holds: true }],
  ])('does not count when it was made with another %s', (_, checked) => {
    expect(readerOf().read(state, forged, { checked })).toMatchObject({ reason: 'BAD_SIGNATURE' });
  });

  test('is not made for records that are judged without it', () => {
    const reader = readerOf();
    expect(reader.sealAhead(state, forged)).toMatchObject({ publicKey, fingerprint });
    expect(reader.sealAhead({ ...state, opened: false }, forged)).toBeNull();
    expect(reader.sealAhead({ ...state, rules: 0 }, forged)).toBeNull();
    expect(reader.sealAhead({ ...state, signOffKey: () => null }, forged)).toBeNull();
    expect(reader.sealAhead(state, sealed(keys.ingress, [], partition + 1))).toBeNull();
    expect(reader.sealAhead(state, null)).toBeNull();
    expect(reader.sealAhead(state, Buffer.from('poison'))).toBeNull();
  });
});
