import { readExecution } from '@pm/domain/executions/each-execution.io';
import type { ExecutionLog } from '@pm/domain/executions/execution-reader.io';
import { InputSequence } from '@pm/domain/executions/input-sequence';
import { Fault } from '@pm/kit/fault';
import { readRange } from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas/log/executions';
import type { FeedChange, OwnChange } from './changes.ts';
import type { IndexedRecord } from './position-index.ts';
import {
  MarketReplayFold,
  OwnReplayFold,
  OwnTotals,
  type ReplayFold,
  totalsBefore,
  withTotals,
} from './replay-fold.ts';
import type { MarketReplayPlan, OwnReplayPlan } from './replay-plan.ts';

export interface ReplayLimits {
  /** Changes of a page. */
  readonly pageMessages: number;
  /** Records read at a time; their wanted changes are in memory until they are taken. */
  readonly readRecords: number;
  /** Changes of a wallet kept until its totals are known; with more of them the log is read twice. */
  readonly ownKept: number;
  /** Reads of the log at a time, by all replays together. */
  readonly reads: number;
  /** Replays that wait for one of them; beyond it a replay fails with `replays_busy` (retry). */
  readonly waiting: number;
}

export const replayLimits: ReplayLimits = {
  pageMessages: 1_000,
  readRecords: 5_000,
  ownKept: 20_000,
  reads: 4,
  waiting: 20_000,
};

/** The part of the log that replays read. */
export type ReplayLog = Pick<ExecutionLog, 'client' | 'codec' | 'topic'>;

/** Where a partition ended when the replay was planned. */
interface ReplayEnd {
  readonly partition: number;
  /** Offset in `executions` that no wanted change is at or after. */
  readonly nextOffset: number;
}

/** Reads changes of the past out of `executions`, with the numbers and totals that they had. */
export class Replays {
  readonly #log: ReplayLog;
  readonly #limits: ReplayLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(log: ReplayLog, limits: ReplayLimits = replayLimits) {
    this.#log = log;
    this.#limits = limits;
  }

  /**
   * The changes of a plan in pages. Rejects with a `Fault`: `log_unavailable` and others of the reader (retry),
   * `replays_busy` (retry), `execution_gap`, `execution_unreadable` or `offset_out_of_range` (stop).
   */
  pages(
    plan: MarketReplayPlan | OwnReplayPlan,
    nextOffset: number,
  ): AsyncGenerator<readonly FeedChange[]> {
    const end = { partition: plan.partition, nextOffset };
    return plan.kind === 'market'
      ? this.#folded(new MarketReplayFold(plan), plan.start, end)
      : this.#own(plan, end);
  }

  /** The totals before the replay are those of now less what the records since have changed. */
  async *#own(plan: OwnReplayPlan, end: ReplayEnd): AsyncGenerator<readonly FeedChange[]> {
    const { pageMessages, ownKept } = this.#limits;
    const changes = new OwnReplayFold(plan, new OwnTotals(), plan.newestSeq);
    let kept: OwnChange[] = [];
    let isKept = true;
    for await (const record of this.#records(changes, plan.start, end)) {
      const found = changes.take(record);
      isKept &&= kept.length + found.length <= ownKept;
      if (isKept) kept.push(...found);
      else kept = [];
    }
    const start = totalsBefore(plan, changes.totals);
    if (!isKept) yield* this.#folded(new OwnReplayFold(plan, start, plan.toSeq), plan.start, end);
    else
      yield* inPages(
        kept.map((change) => withTotals(change, start)),
        pageMessages,
      );
  }

  async *#folded(
    fold: ReplayFold,
    start: IndexedRecord,
    end: ReplayEnd,
  ): AsyncGenerator<readonly FeedChange[]> {
    const { pageMessages } = this.#limits;
    let page: FeedChange[] = [];
    for await (const record of this.#records(fold, start, end)) {
      page.push(...fold.take(record));
      if (page.length < pageMessages) continue;
      yield* inPages(page, pageMessages);
      page = [];
    }
    if (page.length > 0) yield* inPages(page, pageMessages);
  }

  /** Executions from the start on, each once, until the fold is done. Throws `execution_gap` (stop). */
  async *#records(
    fold: ReplayFold,
    start: IndexedRecord,
    { partition, nextOffset }: ReplayEnd,
  ): AsyncGenerator<Execution> {
    const { readRecords } = this.#limits;
    const sequence = new InputSequence(start.inOffset - 1);
    for (let from = start.offset; from < nextOffset && !fold.isDone; from += readRecords) {
      const range = { partition, from, to: Math.min(from + readRecords, nextOffset) };
      for (const execution of await this.#gated(() => this.#read(range))) {
        const order = sequence.take(execution);
        const { inOffset } = execution;
        if (order === 'gap')
          throw new Fault('execution_gap', 'stop', { facts: { partition, inOffset } });
        if (order === 'next') yield execution;
        if (fold.isDone) return;
      }
    }
  }

  async #read(range: {
    readonly partition: number;
    readonly from: number;
    readonly to: number;
  }): Promise<readonly Execution[]> {
    const { client, codec, topic } = this.#log;
    const executions: Execution[] = [];
    const onBatch = async ({
      records,
    }: {
      readonly records: readonly Parameters<typeof readExecution>[1][];
    }) => {
      for (const record of records)
        executions.push(await readExecution(codec, record, { topic, partition: range.partition }));
    };
    await readRange(client, { topic, ...range, onBatch });
    return executions;
  }

  async #gated<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.reads) await this.#wait();
    else this.#running += 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The place is handed on: `running` stays.
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #wait(): Promise<void> {
    if (this.#waiting.length >= this.#limits.waiting) throw new Fault('replays_busy', 'retry');
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

export function* inPages(
  changes: readonly FeedChange[],
  pageMessages: number,
): Generator<readonly FeedChange[]> {
  for (let from = 0; from < changes.length; from += pageMessages)
    yield changes.slice(from, from + pageMessages);
}
