import { firstSeed } from '../../kit/test/long-runs.ts';
import { asked, runMaxMs, seedsAsked, simulateSeeds } from './seeds.ts';

// Beside the runs with the usual faults, on the other core: more faults coincide.
const seedsAhead = 1_000_000;
const timesAsMany = 2;
/** A run that is the only one has as many faults as one with the usual ones, in half the time. */
const seconds = seedsAsked === 1 ? asked.seconds / timesAsMany : asked.seconds;

jest.setTimeout(runMaxMs);

test('no run with twice as many faults breaks a promise', () =>
  simulateSeeds({
    ...asked,
    seconds,
    seed: firstSeed(1) + seedsAhead,
    faults: asked.faults * timesAsMany,
  }));
