import { Figures } from './figures.ts';
import { type RunFigures, type RunOptions, runSeed } from './run.ts';

/** `npm run simulate` sets them; without it a few short runs are made. */
const seed = Number(process.env['PM_TEST_SEED'] ?? 1);
const minutes = Number(process.env['PM_TEST_MINUTES'] ?? 0);
const seconds = Number(process.env['PM_TEST_SECONDS'] ?? 45);
const faults = Number(process.env['PM_TEST_FAULTS'] ?? 1);
const runsMin = 3;

/** Runs that have broken a promise of an earlier version; each is made first. */
const fixedRuns: readonly RunOptions[] = [];

jest.setTimeout((minutes + 10) * 60_000);

/** Runs; a failure has the command that repeats it. */
async function named(run: RunOptions): Promise<RunFigures> {
  try {
    return await runSeed(run);
  } catch (cause) {
    const { seed: number, forMs, faults: times = 1 } = run;
    const options = `--seed ${number} --seconds ${forMs / 1_000} --faults ${times}`;
    throw new Error(`a promise is broken (npm run simulate -- ${options}): ${cause}`, { cause });
  }
}

test('no run with faults of every kind breaks a promise', async () => {
  const figures = new Figures();
  const endMs = Date.now() + minutes * 60_000;
  for (const run of fixedRuns) figures.add(await named(run));
  for (let next = seed; next < seed + runsMin || Date.now() < endMs; next += 1)
    figures.add(await named({ seed: next, forMs: seconds * 1_000, faults }));
  console.log(`simulated: ${figures.text()}`);
});

test('a run of a seed happens the same way each time', async () => {
  const options = { seed: 5, forMs: 10_000, faults: 4 };
  expect(await runSeed(options)).toEqual(await runSeed(options));
});
