import { runSeed } from './run.ts';
import { asked, simulateSeeds } from './seeds.ts';

jest.setTimeout((asked.minutes + 10) * 60_000);

test('no run with faults of every kind breaks a promise', () => simulateSeeds(asked));

test('a run of a seed happens the same way each time', async () => {
  const options = { seed: 5, forMs: 10_000, faults: 4 };
  expect(await runSeed(options)).toEqual(await runSeed(options));
});
