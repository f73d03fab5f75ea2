import { setTimeout as wait } from 'node:timers/promises';
import { Fault, reactionTo } from '@pm/kit/fault';
import type { TableRows } from '../core/row-writer.ts';
import { inStages } from '../core/table-stages.ts';
import type { TablesStore } from './tables-store.ts';

/** Records [from, to) of one partition. */
export interface BatchRange {
  readonly from: number;
  readonly to: number;
}

export interface BatchSinkParts {
  readonly store: Pick<TablesStore, 'insert'>;
  readonly topicPrefix: string;
  readonly partition: number;
  /** Generation-checked commit of the group. */
  commit(offset: number, metadata: string): Promise<void>;
  onInserted(table: string, rows: number): void;
  onRetry(): void;
  readonly retryForMs: number;
}

/** Inserts of one batch on their way at a time. */
const insertsAtOnce = 4;

const firstRetryMs = 100;
const maxRetryMs = 5_000;

/**
 * Exactly once into ClickHouse (docs/traps.md): the range is in the group's commit before the first row is sent, so
 * that whoever comes after a crash sends exactly this batch with the same tokens; the commit behind it ends it. A commit
 * that fails means that the partition is no longer ours, and nothing is sent.
 */
export class TablesBatchSink {
  readonly #parts: BatchSinkParts;

  constructor(parts: BatchSinkParts) {
    this.#parts = parts;
  }

  async write(range: BatchRange, rows: readonly TableRows[]): Promise<void> {
    await this.#parts.commit(range.from, String(range.to));
    for (const stage of inStages(rows)) await this.#insertAll(range, stage);
    await this.#parts.commit(range.to, '');
  }

  /** Several at a time. After a fault nothing more begins, and nothing is on its way when it is thrown. */
  async #insertAll(range: BatchRange, stage: readonly TableRows[]): Promise<void> {
    const waiting = [...stage];
    const work = async () => {
      try {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
          await this.#insert(range, one);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: insertsAtOnce }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #insert({ from, to }: BatchRange, one: TableRows): Promise<void> {
    const { partition, topicPrefix } = this.#parts;
    const token = `${one.table.name}:${topicPrefix}:${partition}:${from}-${to}`;
    await this.#insistOn(() => this.#parts.store.insert(one, token));
    this.#parts.onInserted(one.table.name, one.count);
  }

  /** A failed insert is "unknown", never "not done": the same again, until it is answered or time is up. */
  async #insistOn(insert: () => Promise<void>): Promise<void> {
    const deadlineMs = performance.now() + this.#parts.retryForMs;
    for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, maxRetryMs)) {
      try {
        await insert();
        return;
      } catch (error) {
        if (reactionTo(error) !== 'retry' || performance.now() + waitMs > deadlineMs) throw error;
        this.#parts.onRetry();
        await wait(waitMs);
      }
    }
  }
}

const metadataPattern = /^\d{1,16}$/;

/** The batch a commit says was under way, or `null`. */
export function pendingRange(
  committed: { offset: number; metadata: string } | null,
): BatchRange | null {
  if (committed === null || committed.metadata === '') return null;
  const to = Number(committed.metadata);
  if (!metadataPattern.test(committed.metadata) || to <= committed.offset) {
    const facts = { offset: committed.offset };
    throw new Fault('commit_metadata_unreadable', 'stop', { facts });
  }
  return { from: committed.offset, to };
}
