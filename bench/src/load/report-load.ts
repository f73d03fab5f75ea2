import { visibilityCondition } from '../latency/visibility-rows.ts';
import { percentText } from '../report/numbers.ts';
import type { Report } from '../report/report.ts';
import { boxPage } from './box-page.ts';
import type { Found } from './found.ts';
import { capacityTable, freshnessTable } from './more-tables.ts';
import { type BenchCounts, leadSeconds, warmUp } from './open-bench.ts';
import { rateName } from './rates.ts';
import type { StepResult } from './run-step.ts';
import { behindReason, isDisturbed, msPerOrder, type StepSums, sumSteps } from './sums.ts';
import {
  cancelTable,
  latencyTable,
  memoryTable,
  processorTable,
  ratioTable,
  tableWorkTable,
} from './tables.ts';

export function loadReport(
  { steps, freshness, capacity }: Found,
  { wallets, markets, fills, rounds }: BenchCounts & { readonly rounds: number },
): Report {
  const all = sumSteps(steps);
  const seconds = steps[0]?.shape.seconds ?? 0;
  return {
    name: 'load',
    title: 'Orders at given rates through the public listener',
    heads: true,
    conditions: [
      `Whole stack, 8 partitions, rate limits that count and refuse nothing; through the gateway. ${wallets} wallets at as many addresses, ${markets} markets. ${((1 - 2 * fills) * 100).toFixed(0)} % of the orders rest at prices that nothing meets, the others meet in pairs; each wallet cancels once a second, in one request, what has rested for a second. Orders signed ahead of time, connections kept open, HMAC at the time of sending.`,
      `Sent at even distances whether or not answers come; latency counts from the planned moment to the whole response, and until the generator gave up where none came. ${rounds} rounds of ${seconds} s in turn, each after ${leadSeconds} s at the same rate that are not measured, and all after ${warmUp.seconds} s of ${warmUp.requestsPerSecond} requests a second of each kind, in which processes compile their paths. Before each step every projection is complete.`,
      'ClickHouse stopped: the same load while its process is suspended. Bare server: fastify in a process of its own, which parses the same requests and repeats the responses of the exchange.',
      ...(freshness === null ? [] : [visibilityCondition]),
      'The generator is a process on the same cores and part of every figure. Idle and others are shares of all cores: others are processes that do not belong to the run.',
    ],
    tables: [
      latencyTable(all),
      ratioTable(all),
      processorTable(all),
      tableWorkTable(all),
      cancelTable(all),
      memoryTable(all),
      ...(freshness === null ? [] : [freshnessTable(freshness)]),
      ...(capacity.length === 0 ? [] : [capacityTable(capacity)]),
    ],
    notes: notesOf(steps),
    page: boxPage({ steps, freshness, capacity }),
    figures: {
      steps: all.map(figuresOf),
      freshness: freshness && Object.fromEntries(freshness.seen.seenMs),
      capacity: sumSteps(capacity).map(figuresOf),
    },
  };
}

/** The error of each step whose rate was not sent; such figures count for less than was planned. */
export function errorsOf(steps: readonly StepResult[]): readonly string[] {
  return steps.flatMap((step) => {
    const reason = behindReason(step);
    return reason === null ? [] : [`${rateName(step.shape.rate)}, ${step.condition}: ${reason}`];
  });
}

function notesOf(steps: readonly StepResult[]): string[] {
  const errors = errorsOf(steps).map((error) => `**ERROR, the plan was not kept:** ${error}.`);
  const disturbed = steps.filter(isDisturbed);
  const kept = 'The generator sent every request of the plan within a second.';
  return [
    ...(errors.length === 0 ? [kept] : errors),
    ...(disturbed.length === 0
      ? []
      : [`**Disturbed by others on the machine**: ${namesOf(disturbed)}.`]),
  ];
}

/** "300/s with everything (46.0 %)". */
function namesOf(steps: readonly StepResult[]): string {
  const texts = steps.map(({ shape, condition, used }) => {
    return `${rateName(shape.rate)} with ${condition} (${percentText(used.othersShare)})`;
  });
  return texts.join(', ');
}

function figuresOf(sums: StepSums) {
  const { rate, condition, rounds } = sums;
  return {
    rate,
    condition,
    msPerOrder: Object.fromEntries(msPerOrder(sums)),
    rounds: rounds.map(({ outcome: { samples: _, ...outcome }, used, tables }) => ({
      ...outcome,
      tables,
      idleShare: used.idleShare,
      othersShare: used.othersShare,
      rssBytes: Object.fromEntries(used.rssBytes),
    })),
  };
}
