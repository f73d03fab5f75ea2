import { setTimeout as wait } from 'node:timers/promises';
import { Fault, insist } from '@pm/kit/fault';
import { tables } from '@pm/schemas/tables/tables';
import { inStages, isRest } from './completeness.ts';
import type { ProjectionTables } from './projection-tables.io.ts';
import type { TableRows } from './row-writer.ts';

/** Records [from, to) of one partition. */
export interface BatchRange {
  readonly from: number;
  readonly to: number;
}

type Target = Pick<ProjectionTables, 'insert'>;

export interface BatchInsertsOptions {
  readonly tables: Target;
  /**
   * Access to the same tables that all partitions of the process share: for checks, and for batches that only move the
   * completeness.
   */
  readonly joined: Pick<ProjectionTables, 'guard' | 'insert'>;
  /** Identity of the tables that the state was restored from. */
  readonly identity: string;
  readonly topicPrefix: string;
  readonly partition: number;
  /** Generation-checked commit of the group. */
  commit(offset: number, metadata: string): Promise<void>;
  onInserted(table: string, rows: number): void;
  /** Rows that were inserted at the first try: no code reads their memory any more. */
  onUnused(rows: TableRows): void;
  onRetry(): void;
  /** The tables are held, or not any more. */
  onHeld(isHeld: boolean): void;
  readonly retryForMs: number;
  /** True when no owner waits for the batch any more. */
  isClosed(): boolean;
}

/** Inserts of one batch that run at a time. */
const insertsAtOnce = 4;

/** How often a batch checks whether the hold on the tables is lifted, milliseconds. */
const heldPollMs = 200;

/**
 * Batches exactly once into ClickHouse (traps.md). The range is in the group's commit before the first row is sent, so
 * the owner after a crash sends exactly this batch with the same tokens; the commit after the last row ends the batch.
 * A commit that fails means that the partition belongs to another process, and nothing is sent.
 *
 * A token counts for one life of the server: one that was killed in an insert may know the token and have no rows, and
 * would drop them when they come again. Rows that it had after all are there twice until they are merged, and once in
 * every read with FINAL.
 *
 * Tables may be exchanged for others (`npm run rebuild`). No batch begins while they are held for that, and a commit
 * without a range says that no batch is unfinished. Rows that follow from the old tables are never inserted into the
 * new ones: the batch ends with `tables_exchanged` (release), and the partition is restored from the served tables.
 */
export class BatchInserts {
  readonly #options: BatchInsertsOptions;
  /** The life of the server at the last look; null before the first. */
  #serverLife: string | null = null;

  constructor(options: BatchInsertsOptions) {
    this.#options = options;
  }

  /** `isBegun`: an earlier owner has sent a part of the batch, so it is sent even while the tables are held. */
  async write(
    range: BatchRange,
    rows: readonly TableRows[],
    { isBegun = false }: { readonly isBegun?: boolean } = {},
  ): Promise<void> {
    const stages = inStages(rows);
    const { tables: alone, joined } = this.#options;
    const target = isRest(rows) ? joined : alone;
    await this.#begin(range, isBegun);
    for (const stage of stages) {
      // The completeness is inserted only into the tables that have the rows; before the first stage `begin` has just
      // checked.
      const isChecked = stage === stages[0] && !isBegun;
      const isLast = stage.some(({ table }) => table === tables.completeness);
      if (isLast && !isChecked) await this.#isHeld();
      await this.#insertAll(range, stage, target);
    }
    await this.#options.commit(range.to, '');
  }

  /**
   * The range is committed before the check: a hold that is not found here is younger, and its maker finds the range.
   */
  async #begin({ from, to }: BatchRange, isBegun: boolean): Promise<void> {
    for (;;) {
      await this.#options.commit(from, String(to));
      if (isBegun || !(await this.#isHeld())) return;
      await this.#options.commit(from, '');
      await this.#whileHeld();
    }
  }

  async #whileHeld(): Promise<void> {
    const { onHeld, isClosed } = this.#options;
    onHeld(true);
    try {
      do {
        await wait(heldPollMs);
        if (isClosed()) throw new Fault('partition_closed', 'release');
      } while (await this.#isHeld());
    } finally {
      onHeld(false);
    }
  }

  /** Several at a time. After a fault no insert begins, and none is running when the fault is thrown. */
  async #insertAll(range: BatchRange, stage: readonly TableRows[], target: Target): Promise<void> {
    const waiting = [...stage];
    const work = async () => {
      try {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift())
          await this.#insert(range, one, target);
      } catch (error) {
        waiting.length = 0;
        throw error;
      }
    };
    const ends = await Promise.allSettled(Array.from({ length: insertsAtOnce }, work));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #insert({ from, to }: BatchRange, one: TableRows, target: Target): Promise<void> {
    const { partition, topicPrefix, onInserted, onUnused } = this.#options;
    const name = `${one.table.name}:${topicPrefix}:${partition}:${from}-${to}`;
    let attempts = 0;
    await this.#insistOn(async () => {
      attempts += 1;
      if (attempts > 1 || this.#serverLife === null) await this.#look();
      await target.insert(one, `${name}:${this.#serverLife}`);
    });
    onInserted(one.table.name, one.count);
    // After a retry an abandoned connection may still send them.
    if (attempts === 1) onUnused(one);
  }

  #isHeld(): Promise<boolean> {
    return this.#insistOn(() => this.#look());
  }

  /** Notes the life of the server; resolves to whether the tables are held. */
  async #look(): Promise<boolean> {
    const { identity, isHeld, serverLife } = await this.#options.joined.guard();
    if (identity !== this.#options.identity) throw new Fault('tables_exchanged', 'release');
    this.#serverLife = serverLife;
    return isHeld;
  }

  /**
   * The outcome of a failed insert is unknown: the same insert is repeated until it succeeds or the retry budget is
   * used up.
   */
  #insistOn<T>(ask: () => Promise<T>): Promise<T> {
    const { retryForMs, onRetry } = this.#options;
    return insist(ask, { forMs: retryForMs, onRetry });
  }
}

const metadataPattern = /^\d{1,16}$/;

/** The unfinished batch that a commit names, or `null`. Throws the `Fault` `commit_metadata_unreadable` (stop). */
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
