import { quantile } from '../report/numbers.ts';
import type { OpenBench } from './open-bench.ts';
import { type Rate, risingRates } from './rates.ts';
import { runStep, type StepResult } from './run-step.ts';
import { behindReason } from './sums.ts';

/** A rate is carried when the 99th percentile is below this, milliseconds. */
export const carriedP99Ms = 1_000;
/** And at least this share of the orders was accepted. */
const acceptedMin = 0.999;
const accepted = ['live', 'matched', 'delayed'];

export const capacitySeconds = 5;
/** A rate that was not carried is tried once more: a pause of the machine itself is not its capacity. */
const triesOfRate = 2;
const ratesMax = 24;
const from: readonly Rate[] = [
  { perSecond: 100, batch: 1 },
  { perSecond: 300, batch: 15 },
];

/** Rising rates of singles and of batches, each until the first that is never carried, which is the last here. */
export async function findCapacity(
  bench: OpenBench,
  progress: (result: StepResult) => void,
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  for (const first of from) {
    for (const rate of risingRates(first, ratesMax)) {
      const found = await tryRate(rate, bench, progress);
      results.push(...found);
      if (found.every((result) => notCarried(result) !== null)) break;
    }
  }
  return results;
}

async function tryRate(
  rate: Rate,
  bench: OpenBench,
  progress: (result: StepResult) => void,
): Promise<readonly StepResult[]> {
  const results: StepResult[] = [];
  while (results.length < triesOfRate) {
    const result = await runStep(bench, bench.shape(rate, capacitySeconds), 'everything');
    progress(result);
    results.push(result);
    if (notCarried(result) === null) break;
  }
  return results;
}

/** Why a rate is not carried; null when it is. */
export function notCarried(step: Pick<StepResult, 'outcome'>): string | null {
  const { latenciesMs, outcomes } = step.outcome;
  const behind = behindReason(step);
  if (behind !== null) return behind;
  const all = Object.values(outcomes).reduce((sum, times) => sum + times, 0);
  const good = accepted.reduce((sum, word) => sum + (outcomes[word] ?? 0), 0);
  if (!(good / all >= acceptedMin)) return `${all - good} of ${all} orders were not accepted`;
  const p99 = quantile(latenciesMs, 0.99);
  return p99 < carriedP99Ms ? null : `p99 ${p99.toFixed(0)} ms`;
}
