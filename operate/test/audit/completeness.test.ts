import type { Execution } from '@pm/schemas/log/executions';
import { CompletenessCheck } from '../../src/audit/completeness.ts';

const execution = (inOffset: number): Execution => ({
  chain: Buffer.alloc(32),
  inOffset,
  timeMs: 1_000 + inOffset,
  keyId: Buffer.alloc(8),
  sequence: 0,
  events: [],
});

/** In a log whose record 2 is repeated as 3, so that the offsets of both topics differ from then on. */
function wrongOf(row: { throughOffset: number; nextInOffset: number; throughMs: number }) {
  const check = new CompletenessCheck([{ partition: 1, ...row }]);
  for (const [inOffset, offset] of [
    [0, 0],
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 5],
  ] as const)
    check.record(1, execution(inOffset), offset);
  return check.wrong(() => 6);
}

describe('the completeness of the tables', () => {
  test.each([
    [3, 3, 1_002],
    [4, 3, 1_002],
    [5, 4, 1_003],
    [6, 5, 1_004],
    [0, 0, 0],
  ])('holds of %i records up to input offset %i', (throughOffset, nextInOffset, throughMs) => {
    expect(wrongOf({ throughOffset, nextInOffset, throughMs })).toEqual([]);
  });

  test.each([
    [5, 5, 1_003],
    [5, 4, 1_004],
    [6, 4, 1_003],
    [7, 5, 1_004],
  ])(
    'is found wrong of %i records with input offset %i at %i',
    (throughOffset, nextInOffset, throughMs) => {
      expect(wrongOf({ throughOffset, nextInOffset, throughMs })).toHaveLength(1);
    },
  );
});
