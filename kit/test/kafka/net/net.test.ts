import { firstSeed, runLength, seedsFrom } from '../../long-runs.ts';
import { runSeed } from './run.ts';

/**
 * More of them:
 * `PM_TEST_LENGTH=200 PM_TEST_SEED=1000 npx jest --selectProjects simulator --testPathPatterns kafka/net`.
 */
const first = firstSeed(1);
const count = runLength({ test: 4, deep: 200 });

/** Many times what a run takes, milliseconds. */
const runMaxMs = 10 * 60_000;

const seeds = seedsFrom(first, count);

test.each(seeds)(
  'seed %i: partitions are read, members are heard, and what is closed ends',
  async (seed) => {
    const { kinds, findings } = await runSeed({ seed });
    const found = findings.map(({ atMs, kind, text }) => `${atMs} ms: ${kind}: ${text}`);
    expect({ kinds, found }).toEqual({ kinds, found: [] });
  },
  runMaxMs,
);

test(
  'a seed is the same run each time',
  async () => {
    const [one, other] = [await runSeed({ seed: first }), await runSeed({ seed: first })];
    expect(other).toEqual(one);
    expect(one.events).toBeGreaterThan(10_000);
  },
  runMaxMs,
);
