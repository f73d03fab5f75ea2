import { Figures } from './figures.ts';
import { runSeed } from './run.ts';

/** `npm run simulate` sets them; without it a few short runs are made. */
const seed = Number(process.env['PM_TEST_SEED'] ?? 1);
const minutes = Number(process.env['PM_TEST_MINUTES'] ?? 0);
const seconds = Number(process.env['PM_TEST_SECONDS'] ?? 45);
const faults = Number(process.env['PM_TEST_FAULTS'] ?? 1);
const runsMin = 4;

jest.setTimeout((minutes + 10) * 60_000);

test('no run with faults of every kind breaks a promise', async () => {
  const figures = new Figures();
  const endMs = Date.now() + minutes * 60_000;
  for (let next = seed; next < seed + runsMin || Date.now() < endMs; next += 1) {
    const run = runSeed({ seed: next, forMs: seconds * 1_000, faults });
    figures.add(
      await run.catch((cause: unknown) => {
        const command = `npm run simulate -- --seed ${next} --seconds ${seconds} --faults ${faults}`;
        throw new Error(`seed ${next} breaks a promise (${command}): ${cause}`, { cause });
      }),
    );
  }
  console.log(`simulated: ${figures.text()}`);
});

test('a run of a seed happens the same way each time', async () => {
  const options = { seed: 5, forMs: 10_000, faults: 4 };
  expect(await runSeed(options)).toEqual(await runSeed(options));
});
