import { setImmediate } from 'node:timers/promises';
import type { ExecutionLog, ExecutionReader } from '@pm/domain/executions/execution-reader.io';
import type { ReaderTraces, TracedReader } from '@pm/domain/traces/traced-reader.io';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, RecordBatch } from '@pm/kit/kafka';
import type { RecordReader } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { Catalog } from '../log/catalog.io.ts';
import type { PartitionProjection, ViewGroup } from '../log/view-definition.io.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import type { TableViews } from '../views/table-views.ts';
import { BatchInserts, type BatchRange } from './batch-inserts.io.ts';
import { completenessRows, type FoldedTo, foldedTo, isRest } from './completeness.ts';
import type { JoinedTables } from './joined-tables.io.ts';
import type { ProjectionTables } from './projection-tables.io.ts';
import type { RowMemory } from './row-memory.ts';

export interface TablesViewOptions extends Omit<ExecutionLog, 'codec'>, TracedReader {
  /**
   * One codec for each partition: partitions are folded alternately, and reused memory is valid until the codec's next
   * record.
   */
  openCodec(): Promise<RecordReader<Execution>>;
  readonly tables: ProjectionTables;
  readonly catalog: Pick<Catalog, 'payout0'>;
  readonly groupId: string;
  readonly topicPrefix: string;
  readonly metrics: Pick<ProjectorMetrics, 'rows' | 'insertSeconds' | 'insertRetries' | 'held'>;
  readonly limits: TableLimits;
}

/** When a batch ends, and how long its inserts are retried before the partition is restored. */
export interface TableLimits {
  readonly batchRecords: number;
  readonly batchRows: number;
  readonly batchMs: number;
  /** Age at which a batch without rows ends, which only moves the completeness. */
  readonly restMs: number;
  /** Longest pause after a batch, `pausePerWrite`; 0 for none. */
  readonly pauseMaxMs: number;
  readonly retryForMs: number;
}

/** The longest time that the fold of fetched records blocks other work, milliseconds, except for a single record. */
const yieldEveryMs = 5;

/**
 * After a batch is written, the next one that is not full waits this many times as long as that took. Small inserts
 * cost ClickHouse as much as large ones, so a machine that is short of processors gets fewer of them, and one with
 * room writes every `batchMs`.
 */
const pausePerWrite = 20;

/** Row memory and tables that all partitions of a process share. */
export interface SharedParts {
  readonly memory: RowMemory;
  readonly joined: JoinedTables;
}

/** The restored state of a partition, and where its projection begins. */
export interface TablesStart extends SharedParts {
  readonly partition: number;
  readonly from: number;
  readonly group: ViewGroup;
  /** Identity of the tables that the state was restored from. */
  readonly identity: string;
  readonly reader: ExecutionReader;
  readonly views: TableViews;
  /** State of the fold at `from`. */
  readonly folded: FoldedTo;
}

/**
 * Folds records as they come, and writes a batch when it is full or old. At most one batch is written while one is
 * gathered.
 */
export class TablesProjection implements PartitionProjection {
  readonly #options: TablesViewOptions;
  readonly #start: TablesStart;
  readonly #inserts: BatchInserts;
  readonly #traced: ReaderTraces | null;
  #batchFrom: number;
  #batchTo: number;
  #folded: FoldedTo;
  /** Everything below is in the tables. */
  #storedTo: number;
  #timer: NodeJS.Timeout | undefined;
  #timerIsOfRows = false;
  /** End of the pause after the last batch, milliseconds of `performance.now()`. */
  #pausesUntilMs = 0;
  #writing: Promise<void> = Promise.resolve();
  #failed: Fault | null = null;
  #closed = false;
  #projecting = false;
  #reported = false;
  #yieldedMs = 0;

  constructor(options: TablesViewOptions, start: TablesStart) {
    this.#options = options;
    this.#start = start;
    this.#batchFrom = start.from;
    this.#batchTo = start.from;
    this.#storedTo = start.from;
    this.#folded = start.folded;
    const { partition, group, identity, memory, joined } = start;
    this.#traced = options.tracesOf?.(partition) ?? null;
    this.#inserts = new BatchInserts({
      tables: options.tables,
      joined,
      identity,
      isClosed: () => this.#closed,
      topicPrefix: options.topicPrefix,
      partition,
      commit: (offset, metadata) => group.commit(partition, offset, metadata),
      onInserted: (table, rows) => options.metrics.rows.add(rows, { table }),
      onUnused: ({ pieces }) => memory.giveBack(pieces),
      onRetry: () => options.metrics.insertRetries.add(1),
      onHeld: (isHeld) => options.metrics.held.set(isHeld ? 1 : 0, { partition }),
      retryForMs: options.limits.retryForMs,
    });
  }

  get from(): number {
    return this.#batchFrom;
  }

  get storedTo(): number {
    return this.#storedTo;
  }

  get lastTimeMs(): number {
    return this.#start.reader.lastTimeMs;
  }

  /**
   * Sends the batch of an earlier run again: the same records and the same tokens, whatever its size. Resolves when it
   * is being written; the next batch is gathered meanwhile and written after it. A fault of the write is reported like
   * that of any batch.
   */
  async repeat(range: BatchRange, records: readonly IncomingRecord[]): Promise<void> {
    for (const record of records) await this.#fold(record);
    this.#batchTo = range.to;
    this.#flush({ isBegun: true }).catch((error: unknown) => this.#report(error));
  }

  async project({ records }: RecordBatch): Promise<number> {
    this.#projecting = true;
    try {
      await this.#gather(records);
      this.#assertSound();
    } catch (error) {
      // A record may be folded in part: the gathered rows are not those of their range, and must never be written.
      this.#failed ??= faultOf(error);
      clearTimeout(this.#timer);
      this.#reported = true;
      throw error;
    } finally {
      this.#projecting = false;
    }
    if (this.#batchTo > this.#batchFrom) this.#startTimer();
    return this.#storedTo;
  }

  /** Writes what was gathered: no record follows for now. A fault is reported like that of any batch. */
  writeNow(): void {
    this.#flush().catch((error: unknown) => this.#report(error));
  }

  /** Records that were not written are read again by the next owner. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#writing.catch(() => {});
  }

  #isFull(): boolean {
    const { batchRecords, batchRows } = this.#options.limits;
    const { views } = this.#start;
    return this.#batchTo - this.#batchFrom >= batchRecords || views.pendingRows >= batchRows;
  }

  async #gather(records: readonly IncomingRecord[]): Promise<void> {
    for (const record of records) {
      this.#assertSound();
      await this.#fold(record);
      if (this.#isFull()) await this.#flushInBackground();
      await this.#yield();
    }
  }

  async #fold(record: IncomingRecord): Promise<void> {
    const { views, reader } = this.#start;
    const read = reader.next(record);
    const execution = read instanceof Promise ? await read : read;
    if (execution !== null) {
      for (const market of views.payoutsNeeded(execution))
        views.knowPayout(market, await this.#options.catalog.payout0(market));
      views.fold(execution, record.timestampMs);
      this.#traced?.take(record.offset, execution);
      this.#folded = foldedTo(execution);
    }
    // Without a wait after the fold: the range always matches the gathered rows.
    this.#batchTo = record.offset + 1;
  }

  /**
   * A batch without rows ends sooner when its first rows come. Those of all partitions end at the same moments, so that
   * they are written together.
   */
  #startTimer(): void {
    const { batchMs, restMs } = this.#options.limits;
    const hasRows = this.#start.views.pendingRows > 0;
    if (this.#timer !== undefined && (this.#timerIsOfRows || !hasRows)) return;
    this.#timerIsOfRows = hasRows;
    this.#flushIn(hasRows ? batchMs : restMs - (performance.now() % restMs));
  }

  /** In place of a timer before. */
  #flushIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flushAfterPause().catch((error: unknown) => this.#report(error));
    }, ms);
  }

  /** The pause is known when the batch before is written. */
  async #flushAfterPause(): Promise<void> {
    await this.#writing;
    const pauseMs = this.#pausesUntilMs - performance.now();
    if (pauseMs <= 0) await this.#flushInBackground();
    else if (this.#timer === undefined && !this.#closed) this.#flushIn(pauseMs);
  }

  /** Resolves when the batch before is written and this one is being written: the next is gathered meanwhile. */
  async #flushInBackground(): Promise<void> {
    await this.#writing;
    this.#flush().catch((error: unknown) => this.#report(error));
  }

  /** A fault of a write in the background is reported once: by `project` while it runs, otherwise from here. */
  #report(error: unknown): void {
    if (this.#reported || this.#projecting || this.#closed) return;
    this.#reported = true;
    this.#start.group.fail(error);
  }

  /** Folding alone never waits for I/O, so responses to inserts would wait until all fetched records are folded. */
  async #yield(): Promise<void> {
    if (performance.now() - this.#yieldedMs < yieldEveryMs) return;
    await setImmediate();
    this.#yieldedMs = performance.now();
  }

  /** Takes the rows gathered so far; batches are written one after the other. */
  #flush(how: { readonly isBegun?: boolean } = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const range = { from: this.#batchFrom, to: this.#batchTo };
    if (range.to === range.from) return this.#writing;
    const { partition, views } = this.#start;
    const rows = [...views.take(), completenessRows(partition, range.to, this.#folded)];
    this.#batchFrom = range.to;
    this.#writing = this.#writing.then(async () => {
      this.#assertSound();
      const startedMs = performance.now();
      try {
        await this.#inserts.write(range, rows, how);
      } catch (error) {
        this.#failed = faultOf(error);
        throw this.#failed;
      }
      this.#pauseAfter(startedMs, { isRest: isRest(rows) });
      this.#storedTo = range.to;
      this.#traced?.stored(range.to);
      this.#start.group.stored(range.to);
    });
    return this.#writing;
  }

  #pauseAfter(startedMs: number, batch: { readonly isRest: boolean }): void {
    const { metrics, limits } = this.#options;
    const endedMs = performance.now();
    metrics.insertSeconds.observe((endedMs - startedMs) / 1_000);
    if (batch.isRest) return;
    this.#pausesUntilMs =
      endedMs + Math.min(pausePerWrite * (endedMs - startedMs), limits.pauseMaxMs);
  }

  /** No batch may be written after one that failed. */
  #assertSound(): void {
    if (this.#failed !== null) throw this.#failed;
    if (this.#closed) throw new Fault('partition_closed', 'release');
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('batch_failed', 'stop', { cause: error });
}
