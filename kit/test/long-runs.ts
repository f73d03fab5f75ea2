import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Lengths of a long run, in what its suite counts: seeds, steps, requests, records or kills. */
export interface RunLengths {
  /** In `npm test`. */
  readonly test: number;
  /** In `npm run test:deep`, which runs before a release. */
  readonly deep: number;
}

/** Runs of `npm run test:near` are this share of those of `npm test`. */
const nearShare = 0.2;

/**
 * How long a run of this suite is. `PM_TEST_LENGTH` is `near`, `test` (as without it), `deep`, or a number: give it
 * with the pattern of one suite. A name in `PM_TEST_RUNS` is a file that gets a line of what was run.
 *
 * @throws Error for another value.
 */
export function runLength(lengths: RunLengths): number {
  const length = chosen(lengths, process.env['PM_TEST_LENGTH'] ?? 'test');
  const file = process.env['PM_TEST_RUNS'] ?? '';
  if (file !== '') appendFileSync(file, `${suiteName()}: ${length}\n`);
  return length;
}

function chosen({ test, deep }: RunLengths, text: string): number {
  if (text === 'near') return Math.ceil(test * nearShare);
  if (text === 'test' || text === '') return test;
  if (text === 'deep') return deep;
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new Error(`PM_TEST_LENGTH=${text} is neither near, test, deep nor a number above 0`);
}

/** A number of these, from all of the list. */
export function spread<T>(all: readonly T[], count: number): readonly T[] {
  const wanted = Math.min(count, all.length);
  return Array.from(
    { length: wanted },
    (_, nth) => all[Math.floor((nth * all.length) / wanted)] as T,
  );
}

/** Seeds of a number of runs, one after the other. */
export function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, nth) => first + nth);
}

/** First seed of a random run: `PM_TEST_SEED`, or the one that the suite has. */
export function firstSeed(otherwise: number): number {
  return Number(process.env['PM_TEST_SEED'] || otherwise);
}

function suiteName(): string {
  const { testPath = '' } = expect.getState();
  return relative(process.cwd(), testPath);
}
