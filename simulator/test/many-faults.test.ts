import { asked, runMaxMs, simulateSeeds } from './seeds.ts';

// Beside the runs with the usual faults, on the other core: more faults coincide.
const seedsAhead = 1_000_000;
const timesAsMany = 2;

jest.setTimeout(runMaxMs);

test('no run with twice as many faults breaks a promise', () =>
  simulateSeeds({
    ...asked,
    seed: asked.seed + seedsAhead,
    faults: asked.faults * timesAsMany,
  }));
