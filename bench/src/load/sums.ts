import { quantile } from '../report/numbers.ts';
import { rateName } from './rates.ts';
import { type Condition, isOfStack, type StepResult } from './run-step.ts';
import type { TableCounts } from './table-work.ts';

/** The rounds of one rate under one condition. */
export interface StepSums {
  readonly rate: string;
  readonly condition: Condition;
  readonly rounds: readonly StepResult[];
}

/** Steps by rate and condition, in the order in which they first appear. */
export function sumSteps(steps: readonly StepResult[]): readonly StepSums[] {
  const sums = new Map<string, StepSums & { readonly rounds: StepResult[] }>();
  for (const step of steps) {
    const rate = rateName(step.shape.rate);
    const key = `${rate} ${step.condition}`;
    const found = sums.get(key) ?? { rate, condition: step.condition, rounds: [] };
    found.rounds.push(step);
    sums.set(key, found);
  }
  return [...sums.values()];
}

/** All samples of the rounds together. */
export function samplesOf(
  { rounds }: StepSums,
  of: 'latenciesMs' | 'cancelMs' | 'behindMs',
): readonly number[] {
  return rounds.flatMap(({ outcome }) => outcome[of]);
}

export function countsOf(
  { rounds }: StepSums,
  of: 'outcomes' | 'cancels',
): Readonly<Record<string, number>> {
  const all: Record<string, number> = {};
  for (const { outcome } of rounds)
    for (const [word, times] of Object.entries(outcome[of])) all[word] = (all[word] ?? 0) + times;
  return all;
}

/** Orders that were planned in the measured parts. */
function ordersOf({ rounds }: StepSums): number {
  return rounds.reduce((sum, { shape }) => sum + shape.rate.perSecond * shape.seconds, 0);
}

/** Processor milliseconds of each process for one order. */
export function msPerOrder(sums: StepSums): ReadonlyMap<string, number> {
  const orders = ordersOf(sums);
  const all = new Map<string, number>();
  for (const { used } of sums.rounds)
    for (const [name, seconds] of used.cpuSeconds)
      all.set(name, (all.get(name) ?? 0) + (seconds * 1_000) / orders);
  return all;
}

/** Processor milliseconds of the exchange as a whole for one order. */
export function stackMsPerOrder(sums: StepSums): number {
  const own = [...msPerOrder(sums)].filter(([name]) => isOfStack(name));
  return own.reduce((sum, [, ms]) => sum + ms, 0);
}

/** Mean of the rounds. */
export function shareOf({ rounds }: StepSums, of: 'idleShare' | 'othersShare'): number {
  return rounds.reduce((sum, { used }) => sum + used[of], 0) / rounds.length;
}

/** Resident bytes of the processes of the exchange at the end of each round. */
export function memoryOf({ rounds }: StepSums): ReadonlyMap<string, readonly number[]> {
  const all = new Map<string, number[]>();
  for (const { used } of rounds)
    for (const [name, bytes] of used.rssBytes)
      if (isOfStack(name)) all.set(name, [...(all.get(name) ?? []), bytes]);
  return all;
}

/** Counts of all rounds together, and the parts after the last; null where ClickHouse takes no part. */
export function tableWorkOf({
  rounds,
}: StepSums): (TableCounts & { readonly seconds: number }) | null {
  const counted = rounds.flatMap(({ tables, shape }) =>
    tables === null ? [] : [{ ...tables, seconds: shape.seconds }],
  );
  if (counted.length === 0) return null;
  return counted.reduce((sum, one) => ({
    inserts: sum.inserts + one.inserts,
    insertedRows: sum.insertedRows + one.insertedRows,
    insertedParts: sum.insertedParts + one.insertedParts,
    merges: sum.merges + one.merges,
    mergedRows: sum.mergedRows + one.mergedRows,
    activeParts: one.activeParts,
    seconds: sum.seconds + one.seconds,
  }));
}

/** The quotient of a percentile of all rounds under two conditions. */
export function ratioOf(over: StepSums, under: StepSums, share: number): number {
  const of = (sums: StepSums) => quantile(samplesOf(sums, 'latenciesMs'), share);
  return of(over) / of(under);
}

/** Quotients of a percentile under two conditions, one for each round. */
export function roundRatios(over: StepSums, under: StepSums, share: number): readonly number[] {
  return over.rounds.map((round, at) => {
    const beside = under.rounds[at];
    const of = (step: StepResult) => quantile(step.outcome.latenciesMs, share);
    return beside === undefined ? Number.NaN : of(round) / of(beside);
  });
}

/** Others may use so much of all cores in a step before it is named as disturbed. */
const othersMax = 0.1;

/** Whether processes that do not belong to the run took so much that the figures of the step are theirs too. */
export function isDisturbed({ used }: Pick<StepResult, 'used'>): boolean {
  return used.othersShare > othersMax;
}

/** The generator may be so late with a request before its step counts as failed, milliseconds. */
const behindMaxMs = 1_000;

/** Why the rate of the plan was not sent; null when it was. */
export function behindReason({ outcome }: Pick<StepResult, 'outcome'>): string | null {
  const unsent = outcome.outcomes['not sent'] ?? 0;
  if (unsent > 0) return `${unsent} orders were not sent, as too many were in flight`;
  const most = quantile(outcome.behindMs, 1);
  return most > behindMaxMs ? `the generator was ${most.toFixed(0)} ms behind its plan` : null;
}
