import { runSeed } from './run.ts';
import { asked, runMaxMs, simulateFixedRuns, simulateSeeds } from './seeds.ts';

jest.setTimeout(runMaxMs);

test('no run that an earlier version failed breaks a promise', simulateFixedRuns);

test('no run with faults of every kind breaks a promise', () => simulateSeeds(asked));

test('a run of a seed happens the same way each time', async () => {
  const options = { seed: 5, forMs: 10_000, faults: 4 };
  expect(await runSeed(options)).toEqual(await runSeed(options));
});
