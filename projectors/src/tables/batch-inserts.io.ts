import { setTimeout as wait } from 'node:timers/promises';
import { Fault, insist } from '@pm/kit/fault';
import { tables } from '@pm/schemas';
import type { TablesStore } from './projection-tables.io.ts';
import type { TableRows } from './row-writer.ts';
import { inStages } from './stages.ts';

/** Records [from, to) of one partition. */
export interface BatchRange {
  readonly from: number;
  readonly to: number;
}

export interface BatchSinkParts {
  readonly store: Pick<TablesStore, 'guard' | 'insert'>;
  /** The tables that the state behind the rows was restored from. */
  readonly identity: string;
  readonly topicPrefix: string;
  readonly partition: number;
  /** Generation-checked commit of the group. */
  commit(offset: number, metadata: string): Promise<void>;
  onInserted(table: string, rows: number): void;
  /** Rows that are in at the first try: nobody reads their memory any more. */
  onUnused(rows: TableRows): void;
  onRetry(): void;
  readonly retryForMs: number;
  /** Nobody waits for the batch any more. */
  isClosed(): boolean;
}

/** Inserts of one batch on their way at a time. */
const insertsAtOnce = 4;

/** How often a held batch looks whether it may begin. */
const heldPollMs = 200;

/**
 * Exactly once into ClickHouse (traps.md): the range is in the group's commit before the first row is sent, so
 * that whoever comes after a crash sends exactly this batch with the same tokens; the commit behind it ends it. A commit
 * that fails means that the partition is no longer ours, and nothing is sent.
 *
 * Tables may be exchanged for others (`npm run rebuild`). No batch begins while they are held for that, and a commit without a
 * range says that none is under way. Rows that follow from the old tables never go on into the new ones: that is
 * `tables_exchanged` (release), and the partition is restored from what is served now.
 */
export class TablesBatchSink {
  readonly #parts: BatchSinkParts;

  constructor(parts: BatchSinkParts) {
    this.#parts = parts;
  }

  /** `isBegun`: a former owner has sent a part of it, so that only its end brings the tables to rest. */
  async write(
    range: BatchRange,
    rows: readonly TableRows[],
    { isBegun = false }: { readonly isBegun?: boolean } = {},
  ): Promise<void> {
    await this.#begin(range, isBegun);
    const stages = inStages(rows);
    for (const stage of stages) {
      // What says that a batch is complete goes only where its rows went; in front of the first stage `begin` has just looked.
      const hasLooked = stage === stages[0] && !isBegun;
      const isLast = stage.some(({ table }) => table === tables.completeness);
      if (isLast && !hasLooked) await this.#looksHeld();
      await this.#insertAll(range, stage);
    }
    await this.#parts.commit(range.to, '');
  }

  /** The range is committed first: a hold that is not seen here is younger, and whoever made it sees the range. */
  async #begin({ from, to }: BatchRange, isBegun: boolean): Promise<void> {
    for (;;) {
      await this.#parts.commit(from, String(to));
      if (isBegun || !(await this.#looksHeld())) return;
      await this.#parts.commit(from, '');
      do {
        await wait(heldPollMs);
        if (this.#parts.isClosed()) throw new Fault('partition_closed', 'release');
      } while (await this.#looksHeld());
    }
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
    const { partition, topicPrefix, store, onInserted, onUnused } = this.#parts;
    const token = `${one.table.name}:${topicPrefix}:${partition}:${from}-${to}`;
    let attempts = 0;
    await this.#insistOn(() => {
      attempts += 1;
      return store.insert(one, token);
    });
    onInserted(one.table.name, one.count);
    // Else a connection that was given up may still send them.
    if (attempts === 1) onUnused(one);
  }

  async #looksHeld(): Promise<boolean> {
    const { identity, isHeld } = await this.#insistOn(() => this.#parts.store.guard());
    if (identity !== this.#parts.identity) throw new Fault('tables_exchanged', 'release');
    return isHeld;
  }

  /** A failed insert is "unknown", never "not done": the same again, until it is answered or time is up. */
  #insistOn<T>(ask: () => Promise<T>): Promise<T> {
    const { retryForMs, onRetry } = this.#parts;
    return insist(ask, { forMs: retryForMs, onRetry });
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
