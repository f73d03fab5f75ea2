import { firstSeed, runLength } from '../../kit/test/long-runs.ts';
import { Figures } from './figures.ts';
import { type RunFigures, type RunOptions, runSeed } from './run.ts';

/** Runs that have broken a promise of an earlier version. */
const fixedRuns: readonly RunOptions[] = [{ seed: 4, forMs: 120_000 }];

/** The one run of `npm test` is the fixed run, too. */
const usualSeed = 4;

/** From the environment; `npm run simulate` asks for minutes instead of a number of seeds. */
export const asked = {
  seed: firstSeed(usualSeed),
  minutes: Number(process.env['PM_TEST_MINUTES'] ?? 0),
  seconds: Number(process.env['PM_TEST_SECONDS'] ?? 120),
  faults: Number(process.env['PM_TEST_FAULTS'] ?? 1),
};

/** Seeds of this run of tests; `npm run simulate` begins with one. */
export const seedsAsked = asked.minutes > 0 ? 1 : runLength({ test: 1, deep: 200 });

/** Longest time of a run of seeds, many times what a deep one takes, milliseconds. */
export const runMaxMs = asked.minutes * 60_000 + 10 * 3_600_000;

/** Runs the fixed runs. A broken promise throws with its command. */
export async function simulateFixedRuns(): Promise<void> {
  for (const run of fixedRuns) await named(run);
}

/**
 * Runs seed after seed: until the minutes are over, or without minutes as many as this run of tests is long. A broken
 * promise throws with its command.
 */
export async function simulateSeeds({ seed, minutes, seconds, faults }: typeof asked) {
  const figures = new Figures();
  const endMs = Date.now() + minutes * 60_000;
  for (let next = seed; next < seed + seedsAsked || Date.now() < endMs; next += 1)
    figures.add(await named({ seed: next, forMs: seconds * 1_000, faults }));
  console.log(`simulated: ${figures.text()}`);
}

const done = new Map<string, RunFigures>();

/** A run, which happens the same way each time, and so once. A failure has the command that repeats it. */
async function named(run: RunOptions): Promise<RunFigures> {
  const { seed, forMs, faults = 1 } = run;
  const options = `--seed ${seed} --seconds ${forMs / 1_000} --faults ${faults}`;
  try {
    const figures = done.get(options) ?? (await runSeed(run));
    done.set(options, figures);
    return figures;
  } catch (cause) {
    throw new Error(`a promise is broken (npm run simulate -- ${options}): ${cause}`, { cause });
  }
}
