import { pairMarkets } from './latency/visibility.ts';
import { findCapacity } from './load/capacity.ts';
import { pairTraders, watchFreshness } from './load/freshness.ts';
import { type OpenBench, openBench } from './load/open-bench.ts';
import { parseRates, type Rate } from './load/rates.ts';
import { errorsOf, loadReport } from './load/report-load.ts';
import { type Condition, conditions, runStep, type StepResult } from './load/run-step.ts';
import { stepLine } from './load/tables.ts';
import { readArguments } from './report/arguments.ts';
import { publish } from './report/report.ts';

/**
 * `npm run bench:load`: orders at given rates through the public listener, whether or not answers come; with everything
 * running, with ClickHouse stopped, and against a bare server that repeats the responses, in turn. Then what others
 * can read of a fill. `--alone` leaves the comparisons out, `--capacity` looks for the rates that the machine carries.
 * Ends with code 1 when a rate was not sent as planned.
 */
const given = readArguments(
  {
    seconds: { default: 20, min: 2, max: 3_600 },
    rounds: { default: 2, min: 1, max: 20 },
    markets: { default: 32, min: 1, max: 1_000 },
    wallets: { default: 8, min: 2, max: 200 },
    fills: { default: 0, min: 0, max: 0.5 },
    freshness: { default: 30, min: 0, max: 600 },
  },
  ['alone', 'capacity'],
  { rates: '20,100,300,1500x15' },
);
const rates = parseRates(given.text('rates'));
const counts = {
  markets: given.number('markets'),
  wallets: given.number('wallets'),
  fills: given.number('fills'),
};
const [rounds, freshnessSeconds] = [given.number('rounds'), given.number('freshness')];

const isWhole = given.flag('capacity') && !given.flag('alone') && freshnessSeconds > 0;
if (given.write === true && !isWhole)
  throw new RangeError('--write takes all parts: with --capacity, without --alone');
const compared: readonly Condition[] = given.flag('alone') ? ['everything'] : conditions;

const bench = await openBench(counts, rates, { markets: pairMarkets, traders: pairTraders });
try {
  const steps: StepResult[] = [];
  for (const rate of rates) steps.push(...(await runRate(bench, rate)));
  const freshness = freshnessSeconds === 0 ? null : await watchFreshness(bench, freshnessSeconds);
  const capacity = given.flag('capacity') ? await findCapacity(bench, progress) : [];
  publish(loadReport({ steps, freshness, capacity }, { ...counts, rounds }), given);
  if (errorsOf(steps).length > 0) process.exitCode = 1;
} finally {
  await bench.end();
}

/** The conditions in turn, in the other order every second round. */
async function runRate(on: OpenBench, rate: Rate): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const condition of round % 2 === 0 ? compared : compared.toReversed()) {
      const result = await runStep(on, on.shape(rate, given.number('seconds')), condition);
      progress(result);
      results.push(result);
    }
  }
  return results;
}

function progress(result: StepResult): void {
  console.error(stepLine(result));
}
