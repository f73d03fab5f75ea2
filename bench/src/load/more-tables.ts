import { visibilityHead, visibilityRows } from '../latency/visibility-rows.ts';
import { msText, percentText, quantile } from '../report/numbers.ts';
import type { Table } from '../report/report.ts';
import { capacitySeconds, carriedP99Ms, notCarried } from './capacity.ts';
import type { Freshness } from './freshness.ts';
import { rateName } from './rates.ts';
import type { StepResult } from './run-step.ts';

export function freshnessTable({ seen, step }: Freshness): Table {
  return {
    title: `What everyone can read at ${rateName(step.shape.rate)} more, from the planned moment of the order, ms (goal of a fill: p99 50)`,
    head: visibilityHead,
    rows: visibilityRows(seen),
  };
}

export function capacityTable(steps: readonly StepResult[]): Table {
  return {
    title: `Rising rates of ${capacitySeconds} s each, until one is not carried twice: p99 below ${carriedP99Ms} ms, 99.9 % of the orders accepted, plan kept (goal: 2,000 and 10,000)`,
    head: ['orders', 'p50', 'p99', 'max', 'idle', 'carried'],
    rows: steps.map((step) => [
      rateName(step.shape.rate),
      ...[0.5, 0.99, 1].map((share) => msText(quantile(step.outcome.latenciesMs, share))),
      percentText(step.used.idleShare),
      notCarried(step) ?? 'yes',
    ]),
  };
}
