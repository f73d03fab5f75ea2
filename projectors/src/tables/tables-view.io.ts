import { setImmediate } from 'node:timers/promises';
import {
  ExecutionSource,
  type ExecutionSourceParts,
} from '@pm/domain/executions/execution-reader.io';
import { Fault } from '@pm/kit/fault';
import { type IncomingRecord, type RecordBatch, readRange } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas';
import type { CatalogSource } from '../log/catalog.io.ts';
import type { PartitionProjection, ViewDefinition, ViewGroup } from '../log/running-view.io.ts';
import type { ProjectorMetrics } from '../metrics.ts';
import type { Position } from '../views/positions/position.ts';
import { TableViews } from '../views/table-views.ts';
import { minuteOf } from '../views/time.ts';
import { type BatchRange, pendingRange, TablesBatchSink } from './batch-inserts.io.ts';
import { completenessRows, type FoldedTo, foldedTo } from './completeness.ts';
import type { TablesStore } from './projection-tables.io.ts';
import { giveBack } from './row-memory.ts';

export interface TablesViewParts extends Omit<ExecutionSourceParts, 'codec'> {
  /** One for each partition: partitions are folded in turns, and what a codec uses again is good until its own next record. */
  openCodec(): Promise<RecordCodec<Execution>>;
  readonly store: TablesStore;
  readonly catalog: Pick<CatalogSource, 'payout0'>;
  readonly groupId: string;
  readonly topicPrefix: string;
  readonly metrics: Pick<ProjectorMetrics, 'rows' | 'insertSeconds' | 'insertRetries'>;
  readonly limits: TableLimits;
}

/** When a batch ends, and how long its insert is tried before the partition is restored. */
export interface TableLimits {
  readonly batchRecords: number;
  readonly batchRows: number;
  readonly batchMs: number;
  /** The same of a batch without rows, which only says that nothing happened. */
  readonly restMs: number;
  readonly retryForMs: number;
}

/** Events that a busy log is made of. A codec may use their memory again: nothing of a record is kept once it is folded. */
export const reusedEvents: readonly string[] = [
  'Fill',
  'OrderPlaced',
  'OrderRefused',
  'OrderCanceled',
  'LevelChanged',
  'TopChanged',
];

/** The longest the fold of what was fetched keeps others waiting, milliseconds, but for one record. */
const breatheEveryMs = 5;

/** Executions into the tables. */
export function tablesView(parts: TablesViewParts): ViewDefinition {
  const { groupId, topic } = parts;
  const assign = (partition: number, group: ViewGroup) => openProjection(parts, partition, group);
  return { view: 'tables', groupId, topic, assign };
}

/** Restores the state, sends a batch that was under way again, and goes on behind it. */
async function openProjection(
  parts: TablesViewParts,
  partition: number,
  group: ViewGroup,
): Promise<PartitionProjection> {
  // Whatever is read behind this belongs to these tables, or the first batch finds that they are others.
  const { identity } = await parts.store.guard();
  const { from, pending } = await startOf(parts, partition, group);
  const { client, topic, checksChain } = parts;
  const log = { client, topic, checksChain, codec: await parts.openCodec() };
  const source = await ExecutionSource.open(log, partition, from);
  const folded = { timeMs: source.lastTimeMs, nextInOffset: source.nextInOffset };
  const minuteMs = minuteOf(folded.timeMs);
  const again = pending === null ? [] : await readAgain(parts, partition, pending);
  let lastTimeMs = source.lastTimeMs;
  for (const record of again) lastTimeMs = Math.max(lastTimeMs, await source.clockOf(record));
  const positions: Position[] = [];
  for await (const position of parts.store.positions(partition)) positions.push(position);
  const candles = await parts.store.candles(minuteMs, minuteOf(lastTimeMs));
  const views = new TableViews(partition, { positions, candles });
  const projection = new TablesProjection(parts, {
    ...{ partition, from, group, identity, source, views, folded },
  });
  if (pending !== null) await projection.repeat(pending, again);
  return projection;
}

/**
 * Where to begin: where the tables say that they are complete, whatever was committed. Tables that are behind were lost or put
 * back; tables that are ahead were rebuilt, or their last commit never came. The commit follows first, so that whoever reads it knows.
 */
async function startOf(
  { store }: TablesViewParts,
  partition: number,
  group: ViewGroup,
): Promise<{ readonly from: number; readonly pending: BatchRange | null }> {
  const committed = await group.committed(partition);
  const pending = pendingRange(committed);
  const from = committed?.offset ?? 0;
  const completeTo = await store.completeTo(partition);
  if (completeTo === from) return { from, pending };
  await group.commit(partition, completeTo, '');
  return { from: completeTo, pending: null };
}

async function readAgain(
  { client, topic }: TablesViewParts,
  partition: number,
  range: BatchRange,
): Promise<readonly IncomingRecord[]> {
  const again: IncomingRecord[] = [];
  await readRange(client, {
    topic,
    partition,
    ...range,
    onBatch: async ({ records }) => {
      again.push(...records);
    },
  });
  return again;
}

interface TablesPlace {
  readonly partition: number;
  readonly from: number;
  readonly group: ViewGroup;
  /** The tables that the state was restored from. */
  readonly identity: string;
  readonly source: ExecutionSource;
  readonly views: TableViews;
  /** What is folded in front of `from`. */
  readonly folded: FoldedTo;
}

/** Folds as records come, writes when a batch is full or old. At most one batch is written and one gathered. */
class TablesProjection implements PartitionProjection {
  readonly #parts: TablesViewParts;
  readonly #place: TablesPlace;
  readonly #sink: TablesBatchSink;
  #batchFrom: number;
  #batchTo: number;
  #folded: FoldedTo;
  /** Everything below is in the tables. */
  #storedTo: number;
  #timer: NodeJS.Timeout | undefined;
  #timerIsOfRows = false;
  #writing: Promise<void> = Promise.resolve();
  #failed: Fault | null = null;
  #closed = false;
  #projecting = false;
  #told = false;
  #breathedMs = 0;

  constructor(parts: TablesViewParts, place: TablesPlace) {
    this.#parts = parts;
    this.#place = place;
    this.#batchFrom = place.from;
    this.#batchTo = place.from;
    this.#storedTo = place.from;
    this.#folded = place.folded;
    const { partition, group, identity } = place;
    this.#sink = new TablesBatchSink({
      store: parts.store,
      identity,
      isClosed: () => this.#closed,
      topicPrefix: parts.topicPrefix,
      partition,
      commit: (offset, metadata) => group.commit(partition, offset, metadata),
      onInserted: (table, rows) => parts.metrics.rows.add(rows, { table }),
      onUnused: ({ pieces }) => giveBack(pieces),
      onRetry: () => parts.metrics.insertRetries.add(1),
      retryForMs: parts.limits.retryForMs,
    });
  }

  get from(): number {
    return this.#batchFrom;
  }

  get lastTimeMs(): number {
    return this.#place.source.lastTimeMs;
  }

  /** Sends the batch of a former run again: the same records, the same tokens, whatever its size. */
  async repeat(range: BatchRange, records: readonly IncomingRecord[]): Promise<void> {
    for (const record of records) await this.#fold(record);
    this.#batchTo = range.to;
    await this.#flush({ isBegun: true });
  }

  async project({ records }: RecordBatch): Promise<number> {
    this.#projecting = true;
    try {
      await this.#gather(records);
      this.#assertSound();
    } catch (error) {
      // A record may be folded by half: what is gathered is not what its range says, and must never be written.
      this.#failed ??= faultOf(error);
      clearTimeout(this.#timer);
      this.#told = true;
      throw error;
    } finally {
      this.#projecting = false;
    }
    if (this.#batchTo > this.#batchFrom) this.#startTimer();
    return this.#storedTo;
  }

  /** What was not written is read again by the next owner. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#writing.catch(() => {});
  }

  #isFull(): boolean {
    const { batchRecords, batchRows } = this.#parts.limits;
    const { views } = this.#place;
    return this.#batchTo - this.#batchFrom >= batchRecords || views.pendingRows >= batchRows;
  }

  async #gather(records: readonly IncomingRecord[]): Promise<void> {
    for (const record of records) {
      this.#assertSound();
      await this.#fold(record);
      if (this.#isFull()) await this.#flushBehind();
      await this.#breathe();
    }
  }

  async #fold(record: IncomingRecord): Promise<void> {
    const { views, source } = this.#place;
    const execution = await source.next(record);
    if (execution !== null) {
      for (const market of views.payoutsNeeded(execution))
        views.knowPayout(market, await this.#parts.catalog.payout0(market));
      views.fold(execution);
      this.#folded = foldedTo(execution);
    }
    // In the same breath: whoever takes what is gathered takes what the range says.
    this.#batchTo = record.offset + 1;
  }

  /** A batch that rests ends sooner when its first rows come. */
  #startTimer(): void {
    const { batchMs, restMs } = this.#parts.limits;
    const hasRows = this.#place.views.pendingRows > 0;
    if (this.#timer !== undefined && (this.#timerIsOfRows || !hasRows)) return;
    clearTimeout(this.#timer);
    this.#timerIsOfRows = hasRows;
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        this.#flushBehind().catch((error: unknown) => this.#tell(error));
      },
      hasRows ? batchMs : restMs,
    );
  }

  /** Resolves when the batch in front is written and this one is on its way: the next is gathered meanwhile. */
  async #flushBehind(): Promise<void> {
    await this.#writing;
    this.#flush().catch((error: unknown) => this.#tell(error));
  }

  /** A fault of writing behind is told once: by `project` while it runs, else from here. */
  #tell(error: unknown): void {
    if (this.#told || this.#projecting || this.#closed) return;
    this.#told = true;
    this.#place.group.fail(error);
  }

  /** Folding takes no breath by itself, and answers of inserts would wait for the end of all that was fetched. */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breathedMs < breatheEveryMs) return;
    await setImmediate();
    this.#breathedMs = performance.now();
  }

  /** Takes what is gathered now; writes one batch after the other. */
  #flush(how: { readonly isBegun?: boolean } = {}): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const range = { from: this.#batchFrom, to: this.#batchTo };
    if (range.to === range.from) return this.#writing;
    const { partition, views } = this.#place;
    const rows = [...views.take(), completenessRows(partition, range.to, this.#folded)];
    this.#batchFrom = range.to;
    this.#writing = this.#writing.then(async () => {
      this.#assertSound();
      const startedMs = performance.now();
      try {
        await this.#sink.write(range, rows, how);
      } catch (error) {
        this.#failed = faultOf(error);
        throw this.#failed;
      }
      this.#parts.metrics.insertSeconds.observe((performance.now() - startedMs) / 1_000);
      this.#storedTo = range.to;
      this.#place.group.stored(range.to);
    });
    return this.#writing;
  }

  /** Nothing may be written behind a batch that was not. */
  #assertSound(): void {
    if (this.#failed !== null) throw this.#failed;
    if (this.#closed) throw new Fault('partition_closed', 'release');
  }
}

function faultOf(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault('batch_failed', 'stop', { cause: error });
}
