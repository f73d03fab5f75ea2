import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningStack } from '@pm/deploy/stack/stack';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Child } from '../child/child.ts';
import type { GeneratorTask, LoadResult } from './job.ts';
import type { LoadShape } from './plan.ts';
import { readUsage, type UsedWindow, usedBetween } from './processor-window.ts';
import { countTables, type TableCounts, workBetween } from './table-work.ts';

/** With everything running; with the process of ClickHouse stopped; against a bare server of the same responses. */
export const conditions = ['everything', 'ClickHouse stopped', 'bare server'] as const;
export type Condition = (typeof conditions)[number];

export interface StepResult {
  readonly shape: LoadShape;
  readonly condition: Condition;
  readonly outcome: LoadResult;
  /** Processor time and memory of the measured part alone, to which everything below is limited too. */
  readonly used: UsedWindow;
  /** Null where ClickHouse takes no part. */
  readonly tables: TableCounts | null;
}

/** Processes of the run that do not belong to the exchange. */
const besideStack = new Set(['generator', 'bare server', 'benchmark']);

export function isOfStack(process: string): boolean {
  return !besideStack.has(process);
}

/** Processes of the run that a step needs. */
export interface Bench {
  readonly stack: RunningStack;
  readonly clickhouse: ClickHouse;
  readonly generator: Child<LoadResult | null>;
  /** Null until there are responses to repeat. */
  readonly bare: { readonly url: string; readonly pid: number } | null;
}

/** The generator signs and sends the orders of a step within so many times its seconds, and this. */
const longest = { times: 3, moreMs: 300_000 };
const settle = { pollMs: 250, longestMs: 60_000, mergesMs: 2_000 };

/**
 * Signs, settles, sends and measures one step. `beside` runs in its measured part and should end with it.
 */
export async function runStep(
  bench: Bench,
  shape: LoadShape,
  condition: Condition,
  beside: () => Promise<void> = async () => {},
): Promise<StepResult> {
  const { stack, generator } = bench;
  await generator.go({ kind: 'sign', shape } satisfies GeneratorTask, longestOf(shape));
  await untilComplete(stack);
  const step = { shape, condition, beside };
  if (condition !== 'ClickHouse stopped') return await measure(bench, step);
  try {
    stack.supervisor.kill('clickhouse', 'SIGSTOP');
    return await measure(bench, step);
  } finally {
    stack.supervisor.kill('clickhouse', 'SIGCONT');
  }
}

interface Step extends Pick<StepResult, 'shape' | 'condition'> {
  beside(): Promise<void>;
}

async function measure(bench: Bench, { shape, condition, beside }: Step): Promise<StepResult> {
  const { stack, generator, clickhouse, bare } = bench;
  const isBare = condition === 'bare server';
  const url = isBare ? (bare?.url ?? '') : stack.baseUrl;
  const others = {
    generator: generator.pid,
    benchmark: process.pid,
    ...(bare && { 'bare server': bare.pid }),
  };
  const usage = () => readUsage(stack.supervisor.status(), others);
  const counts = async () => (condition === 'everything' ? await countTables(clickhouse) : null);
  const task = { kind: 'send', url, isExchange: !isBare } satisfies GeneratorTask;
  const sending = generator.go(task, longestOf(shape));
  await sleep(shape.leadSeconds * 1_000);
  // Queries of counts take their time; the window does not wait for them.
  const [before, countsBefore] = [usage(), counts()];
  const running = beside();
  await sleep(shape.seconds * 1_000);
  const [after, countsAfter] = [usage(), counts()];
  const [outcome, from, to] = await Promise.all([sending, countsBefore, countsAfter, running]);
  if (outcome === null) throw new RangeError('the generator sent nothing');
  const tables = from === null || to === null ? null : workBetween(from, to);
  return { shape, condition, outcome, used: usedBetween(before, after), tables };
}

function longestOf({ seconds }: LoadShape): number {
  return seconds * 1_000 * longest.times + longest.moreMs;
}

interface Status {
  readonly projections: readonly {
    readonly projection: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly offset: number;
      readonly lag: number;
    }[];
  }[];
}

/** Waits until every projection has what was on the log when it began to wait, and some time for merges. */
async function untilComplete({ baseUrl }: RunningStack): Promise<void> {
  const ends = new Map(
    (await positions(baseUrl)).map(({ key, offset, lag }) => [key, offset + lag]),
  );
  const deadline = performance.now() + settle.longestMs;
  for (;;) {
    const behind = (await positions(baseUrl)).filter(
      ({ key, offset }) => offset < (ends.get(key) ?? 0),
    );
    if (behind.length === 0) break;
    if (performance.now() > deadline)
      throw new Error(`not projected in time: ${JSON.stringify(behind)}`);
    await sleep(settle.pollMs);
  }
  await sleep(settle.mergesMs);
}

async function positions(baseUrl: string) {
  const { projections } = (await (await fetch(`${baseUrl}/status`)).json()) as Status;
  return projections.flatMap(({ projection, partitions }) =>
    partitions.map(({ partition, offset, lag }) => ({
      key: `${projection} ${partition}`,
      offset,
      lag,
    })),
  );
}
