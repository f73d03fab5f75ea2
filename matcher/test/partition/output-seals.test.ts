import { readSeal, signedBytes } from '@pm/domain/authority/seal';
import { openSignOffKey, verifierFor } from '@pm/domain/signoff/keys';
import type { OutgoingRecord } from '@pm/kit/kafka';
import { sealedOutputEvery } from '@pm/schemas/log/executions';
import { OutputSeals } from '../../src/partition/output-seals.ts';

const key = openSignOffKey(Buffer.alloc(32, 4));
const writer = Buffer.alloc(8, 1);
let nowMs = 0;

const outputs = (count: number): readonly OutgoingRecord[] =>
  Array.from({ length: count }, (_, index) => ({
    topic: 'executions',
    partition: 3,
    key: null,
    value: Buffer.from(`output ${index}`),
  }));

function sealedOf(seals: OutputSeals, records: readonly OutgoingRecord[]): readonly number[] {
  return records.flatMap((record, index) => (readSeal(seals.seal(record)) === null ? [] : [index]));
}

test('the first output is sealed, and then one of so many', () => {
  const seals = new OutputSeals({ key, writer, monotonicMs: () => nowMs });
  const places = sealedOf(seals, outputs(2 * sealedOutputEvery + 1));
  expect(places).toEqual([0, sealedOutputEvery, 2 * sealedOutputEvery]);
});

test('an output is sealed when a second has passed, and its value stays what it was', () => {
  const seals = new OutputSeals({ key, writer, monotonicMs: () => nowMs });
  const [first, second, third] = outputs(3);
  if (first === undefined || second === undefined || third === undefined) throw new Error('three');
  seals.seal(first);
  nowMs += 999;
  expect(seals.seal(second)).toBe(second);
  nowMs += 1;
  const sealed = seals.seal(third);
  expect(sealed).toMatchObject(third);
  const seal = readSeal(sealed);
  if (seal === null || seal === 'malformed') throw new Error('a seal');
  expect(verifierFor(key.publicKey)(signedBytes(seal.head, sealed), seal.signature)).toBe(true);
});
