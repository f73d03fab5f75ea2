import { runOfSequence, sequencesPerRun } from '@pm/schemas/log/orders';
import fc from 'fast-check';
import { runsMax, UsedSequences } from '../../../src/core/rules/used-sequences.ts';

const sequenceOf = (run: number, count: number) => run * sequencesPerRun + count;

/** Remembers everything, and refuses what is at or below the newest of its run. */
class EverySequence {
  readonly #newest = new Map<number, number>();

  has(sequence: number): boolean {
    return sequence <= (this.#newest.get(runOfSequence(sequence)) ?? -1);
  }

  add(sequence: number): void {
    this.#newest.set(runOfSequence(sequence), sequence);
  }
}

const sequences = (runs: number) =>
  fc.array(
    fc
      .record({ run: fc.nat(runs - 1), count: fc.nat(50) })
      .map(({ run, count }) => sequenceOf(run, count)),
    { maxLength: 400 },
  );

test('with few runs they are exactly those that were taken, and the earlier ones of their runs', () => {
  fc.assert(
    fc.property(sequences(runsMax), (asked) => {
      const [used, twin] = [new UsedSequences(), new EverySequence()];
      for (const sequence of asked) {
        expect(used.has(sequence)).toBe(twin.has(sequence));
        if (used.has(sequence)) continue;
        used.add(sequence);
        twin.add(sequence);
      }
    }),
    { seed: 20_261_124 },
  );
});

test('with any number of runs none is taken twice, and what is kept is bounded', () => {
  fc.assert(
    fc.property(sequences(4 * runsMax), (asked) => {
      const used = new UsedSequences();
      const taken = new Set<number>();
      for (const sequence of asked) {
        if (used.has(sequence)) continue;
        expect(taken.has(sequence)).toBe(false);
        used.add(sequence);
        taken.add(sequence);
        expect(used.newest.length).toBeLessThanOrEqual(runsMax);
        expect(new UsedSequences(used.floor, used.newest)).toEqual(used);
      }
      expect([...taken].every((sequence) => used.has(sequence))).toBe(true);
    }),
    { seed: 20_261_124 },
  );
});

test('processes of one key whose envelopes cross are all taken', () => {
  const used = new UsedSequences();
  const crossed = [sequenceOf(9, 0), sequenceOf(4, 0), sequenceOf(9, 1), sequenceOf(4, 1)];
  for (const sequence of crossed) {
    expect(used.has(sequence)).toBe(false);
    used.add(sequence);
  }
  expect(crossed.every((sequence) => used.has(sequence))).toBe(true);
});

test('a run that is no longer kept goes on, and none of its sequences is taken again', () => {
  const used = new UsedSequences();
  used.add(sequenceOf(1, 5));
  for (let run = 2; run <= runsMax + 1; run += 1) used.add(sequenceOf(run, 0));
  expect([0, 5, 6].map((count) => used.has(sequenceOf(1, count)))).toEqual([true, true, false]);
  expect(used.has(sequenceOf(0, 0))).toBe(true);
});

test('all up to a sequence are used at once', () => {
  const used = new UsedSequences(-1, [sequenceOf(3, 4), sequenceOf(8, 1)]);
  used.addAllTo(sequenceOf(5, 0));
  expect(used.newest).toEqual([sequenceOf(8, 1)]);
  expect([sequenceOf(3, 9), sequenceOf(5, 0)].map((one) => used.has(one))).toEqual([true, true]);
  expect([sequenceOf(5, 1), sequenceOf(8, 2)].map((one) => used.has(one))).toEqual([false, false]);
});
