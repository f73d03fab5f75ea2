import { createHash } from 'node:crypto';
import {
  type ComputedOutput,
  OutputLayout,
  type StoredOutput,
} from '../../src/repair/stored-outputs.ts';

function outputOf(inOffset: number): ComputedOutput {
  const value = Buffer.from(`output ${inOffset}`);
  return { inOffset, value, chain: createHash('sha256').update(value).digest() };
}

/** Lays out the outputs of these inputs, stored in this order. */
async function layOut(inOffsets: readonly number[], tamper = (stored: StoredOutput) => stored) {
  const written: number[] = [];
  const times: (number | undefined)[] = [];
  let next = 0;
  const layout = new OutputLayout(
    4,
    async () => outputOf(next++),
    async (value, timestampMs) => {
      written.push(Number(value.toString().split(' ')[1]));
      times.push(timestampMs);
    },
  );
  for (const [offset, inOffset] of inOffsets.entries())
    await layout.take(tamper({ ...outputOf(inOffset), offset, timestampMs: 1_000 + offset }));
  return { written, times, gaps: layout.gaps };
}

test('a whole log stays as it is, with its copies', async () => {
  expect(await layOut([0, 1, 2, 1, 2, 3])).toMatchObject({
    written: [0, 1, 2, 1, 2, 3],
    gaps: [],
  });
});

test('missing outputs are written where they belong, and those before keep their offsets', async () => {
  expect(await layOut([0, 1, 1, 5, 6, 6, 9])).toMatchObject({
    written: [0, 1, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9],
    gaps: [
      { partition: 4, from: 2, to: 5, offset: 3 },
      { partition: 4, from: 7, to: 9, offset: 6 },
    ],
  });
});

test('stored outputs keep the times that they were appended at', async () => {
  const { times } = await layOut([0, 1, 3]);
  expect(times).toEqual([1_000, 1_001, undefined, 1_002]);
});

test('outputs may be missing at the beginning', async () => {
  expect((await layOut([2, 3])).written).toEqual([0, 1, 2, 3]);
});

test('an output that its input does not give is refused', async () => {
  const tamper = (stored: StoredOutput) =>
    stored.inOffset === 2 ? { ...stored, chain: Buffer.alloc(32) } : stored;
  await expect(layOut([0, 1, 2], tamper)).rejects.toThrow('input 2');
});
