import { runLength, spread } from '../../kit/test/long-runs.ts';
import { type Defect, defectNames } from './defects.ts';
import { runSeed } from './run.ts';

// A test of the simulation: each protection is removed, and runs must find that. `npm test` removes some of those that
// the first seeds find, and `npm run simulate -- --defects` all there are.
const isAll = process.env['PM_TEST_DEFECTS'] === 'all';

/** Processor time in which a removed protection is found, milliseconds. */
const foundWithinMs = 60_000;

/** The seed that finds it, with the time and the finding; null when none does in time. */
async function findingOf(name: Defect): Promise<string | null> {
  const before = process.cpuUsage();
  const tookMs = () => {
    const { user, system } = process.cpuUsage(before);
    return Math.round((user + system) / 1_000);
  };
  for (let seed = 1; tookMs() < foundWithinMs; seed += 1) {
    const run = runSeed({ seed, forMs: 40_000, faults: 3, defects: new Set([name]) });
    const broken = await run.then(() => null, String);
    if (broken !== null) return `seed ${seed}, ${tookMs()} ms: ${broken.slice(0, 120)}`;
  }
  return null;
}

/** Defects that the first seed finds, in a few seconds. */
const soonFound: readonly Defect[] = [
  'a leader is elected that lacks acknowledged records',
  'a former owner may commit',
  'outputs bear the time of their owner',
  'commands of a record are applied in any order',
  'an order is booked however late it is',
  'an order with a limit of its own is booked before a tick judges it',
  'what was booked while the clock stood stays',
  'an order needs no reservation',
  'an order is confirmed before its result',
  'money is reserved that is not there',
  'a gap in the executions is not noticed',
  'a lost ledger stays open',
  'an insert that is repeated counts twice',
  'a token outlives its server',
  'positions are not restored',
  'candles are not restored',
];

/** Defects that are found only after more seeds. */
const laterFound: readonly Defect[] = ['holds without orders are never released'];

const found = [...soonFound, ...laterFound];
const count = runLength({ test: 3, deep: found.length });
const removed = isAll ? defectNames : spread(count < found.length ? soonFound : found, count);

test.each(removed)(
  'runs find that %s',
  async (name) => {
    const finding = await findingOf(name);
    console.log(`${name}: ${finding}`);
    expect(finding).not.toBeNull();
  },
  20 * 60_000,
);
