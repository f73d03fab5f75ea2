import { Figures } from './figures.ts';
import { type RunFigures, type RunOptions, runSeed } from './run.ts';

/** Runs that have broken a promise of an earlier version; each is made first. */
const fixedRuns: readonly RunOptions[] = [{ seed: 4, forMs: 120_000 }];

/** Without a time given only these are made, so that a test by hand is short. */
const runsMin = 3;

/** From the environment, which `npm run simulate` sets; `npm test` sets the minutes. */
export const asked = {
  seed: Number(process.env['PM_TEST_SEED'] ?? 1),
  minutes: Number(process.env['PM_TEST_MINUTES'] ?? 0),
  seconds: Number(process.env['PM_TEST_SECONDS'] ?? 120),
  faults: Number(process.env['PM_TEST_FAULTS'] ?? 1),
};

/** Runs the fixed runs, then seed after seed until the time is over. A broken promise throws with its command. */
export async function simulateSeeds({ seed, minutes, seconds, faults }: typeof asked) {
  const figures = new Figures();
  const endMs = Date.now() + minutes * 60_000;
  for (const run of fixedRuns) figures.add(await named(run));
  for (let next = seed; next < seed + runsMin || Date.now() < endMs; next += 1)
    figures.add(await named({ seed: next, forMs: seconds * 1_000, faults }));
  console.log(`simulated: ${figures.text()}`);
}

/** A run; a failure has the command that repeats it. */
async function named(run: RunOptions): Promise<RunFigures> {
  try {
    return await runSeed(run);
  } catch (cause) {
    const { seed, forMs, faults = 1 } = run;
    const options = `--seed ${seed} --seconds ${forMs / 1_000} --faults ${faults}`;
    throw new Error(`a promise is broken (npm run simulate -- ${options}): ${cause}`, { cause });
  }
}
