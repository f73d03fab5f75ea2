import { Fault } from '../fault/index.ts';
import type { FetchedPartition } from './fetch-wire.io.ts';
import { type PartitionBounds, type RecordBatch, recordBytes } from './records.ts';
import { Wakeup } from './waiting.io.ts';

/** A lane that waits for the wire and gets nothing. */
export interface LaneSilence {
  /** The broker that leads its partition by the newest metadata; null while none does. */
  readonly node: string | null;
  readonly silentMs: number;
}

/** Options of a lane, given by its reader. */
export interface LaneOptions {
  readonly topic: string;
  readonly partition: number;
  /** First offset to read. */
  readonly from: number;
  /** Offsets must follow each other without a gap. */
  readonly dense: boolean;
  readonly maxBufferedBytes: number;
  readonly maxBufferedRecords: number;
  /** Asked right before each batch: false while ownership is in doubt. */
  mayDeliver(): boolean;
  onBatch(batch: RecordBatch): Promise<void>;
  /** Called once; the lane delivers nothing after it. */
  onFault(fault: Fault): void;
  /** The lane takes records again. */
  onRoom(): void;
  /** No fetch of the partition was answered by its leader for `stallMs`; the lane goes on. */
  onStall?(silence: LaneSilence): void;
}

/** A lane that may not deliver asks again after this, milliseconds, also when no one wakes it. */
const deliverCheckMs = 100;
/**
 * A leader that ends before the position is believed after so long, milliseconds, in which no other one has answered: a
 * former leader that is cut off knows less than what was read elsewhere.
 */
export const lostEndMs = 3_000;

interface Buffered {
  readonly batch: RecordBatch;
  readonly bytes: number;
  readonly nextOffset: number;
  /** When the fetch began, if it reached the end of the partition; -Infinity otherwise. */
  readonly throughMs: number;
}

/**
 * One partition from fetch to handler: checks that offsets follow each other, buffers within bounds, calls the
 * handler with one batch at a time. A slow handler delays no other partition: its lane fills up and is left out of
 * the next fetch.
 */
export class PartitionLane {
  readonly topic: string;
  readonly partition: number;
  readonly #options: LaneOptions;
  readonly #buffer: Buffered[] = [];
  #bufferedBytes = 0;
  #bufferedRecords = 0;
  #fetchPosition: number;
  #position: number;
  #highWatermark: number;
  #readThroughMs = Number.NEGATIVE_INFINITY;
  #atEndMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** When it last had room again. */
  #roomMs = Number.NEGATIVE_INFINITY;
  /** Since when its leaders have ended before the position; null while they do not. */
  #beyondEndMs: number | null = null;
  #open = true;
  #running: Promise<void> | null = null;
  readonly #wakeup = new Wakeup();

  constructor(options: LaneOptions) {
    this.topic = options.topic;
    this.partition = options.partition;
    this.#options = options;
    this.#fetchPosition = options.from;
    this.#position = options.from;
    this.#highWatermark = options.from;
  }

  /** Next offset to fetch. */
  get fetchPosition(): number {
    return this.#fetchPosition;
  }

  /** Next offset to handle. */
  get position(): number {
    return this.#position;
  }

  /** Records in the partition that are not handled yet, by the largest end that its leader has named. */
  get lagRecords(): number {
    return Math.max(0, this.#highWatermark - this.#position);
  }

  /**
   * When the newest fetch began, if it left nothing that is not handled by now; -Infinity otherwise. On the clock of
   * `accept`.
   */
  get readThroughMs(): number {
    const isHandled = this.#open && this.#position === this.#fetchPosition;
    return isHandled ? this.#readThroughMs : Number.NEGATIVE_INFINITY;
  }

  /**
   * When the newest fetch began that reached the end of the partition and whose records are all handled: everything
   * that was there then is. -Infinity before the first. On the clock of `accept`.
   */
  get atEndMs(): number {
    return this.#atEndMs;
  }

  /**
   * When the newest fetch of the partition, also an empty one, was answered by the broker that led it by the newest
   * metadata; -Infinity before the first. On the clock of `accept`.
   */
  get answeredMs(): number {
    return this.#answeredMs;
  }

  /**
   * As `answeredMs`. A lane that is full counts as answered: it waits for its handler, not for its leader, and gets the
   * whole time again once it has room.
   */
  get progressMs(): number {
    if (this.#open && !this.hasRoom()) return performance.now();
    return Math.max(this.#answeredMs, this.#roomMs);
  }

  get dense(): boolean {
    return this.#options.dense;
  }

  get open(): boolean {
    return this.#open;
  }

  hasRoom(): boolean {
    const { maxBufferedBytes, maxBufferedRecords } = this.#options;
    const full =
      this.#bufferedBytes >= maxBufferedBytes || this.#bufferedRecords >= maxBufferedRecords;
    return this.#open && !full;
  }

  /**
   * Takes the records of a fetch from its position on, whether or not the fetch began there. A response that ends
   * before it or begins after it is dropped; a gap is a fault. `askedMs`: when the fetch began, monotonic milliseconds;
   * -Infinity when it was not answered by the leader.
   */
  accept(response: FetchedPartition, askedMs: number = Number.NEGATIVE_INFINITY): void {
    const from = this.#fetchPosition;
    if (!this.#open || response.from > from || response.nextOffset < from) return;
    const fetched = response.from === from ? response : restOf(response, from);
    const end = Math.max(fetched.highWatermark, fetched.nextOffset);
    const isOfLeader = askedMs > Number.NEGATIVE_INFINITY;
    this.#highWatermark = isOfLeader ? end : Math.max(this.#highWatermark, end);
    const gap = this.#options.dense ? gapOf(fetched) : null;
    if (gap !== null) {
      this.fail('offset_gap', { expected: gap.expected, found: gap.found });
      return;
    }
    this.#fetchPosition = fetched.nextOffset;
    const isAll = fetched.nextOffset >= fetched.highWatermark;
    this.#readThroughMs = isAll ? askedMs : Number.NEGATIVE_INFINITY;
    this.#push(fetched, this.#readThroughMs);
    this.wake();
  }

  /** The leader has answered a fetch of the partition. */
  answered(nowMs: number): void {
    this.#answeredMs = nowMs;
    this.#beyondEndMs = null;
  }

  /** The end that the leader has named without a fetch. */
  noteEnd(end: number): void {
    this.#highWatermark = Math.max(this.#highWatermark, end);
  }

  /** The leader with these bounds has refused the position. */
  refused({ low, high }: PartitionBounds, nowMs: number): void {
    const position = this.#fetchPosition;
    if (position > high) {
      this.#beyondEndMs ??= nowMs;
      if (nowMs - this.#beyondEndMs < lostEndMs) return;
    } else if (position >= low) return;
    this.fail('offset_out_of_range', { position, low, high });
  }

  /** Tells its reader that nothing comes. */
  stalled(silence: LaneSilence): void {
    if (this.#open) this.#options.onStall?.(silence);
  }

  /** Goes on with what it holds: it may deliver again. */
  wake(): void {
    if (this.#open && this.#buffer.length > 0) this.#running ??= this.#drain();
    this.#wakeup.wake();
  }

  /** Ends the lane with a fault that stops the process or partition: reading on would jump. */
  fail(code: string, facts: Record<string, string | number>, cause?: unknown): void {
    const { topic, partition } = this.#options;
    this.#end(new Fault(code, 'stop', { facts: { topic, partition, ...facts }, cause }));
  }

  /** No batch starts after this call; resolves when the running one has ended. */
  async close(): Promise<void> {
    this.#open = false;
    this.#buffer.length = 0;
    this.#wakeup.wake();
    await this.#running;
  }

  #push({ records, nextOffset }: FetchedPartition, throughMs: number): void {
    const { topic, partition } = this.#options;
    const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0);
    const batch = { topic, partition, records, highWatermark: this.#highWatermark };
    this.#buffer.push({ batch, bytes, nextOffset, throughMs });
    this.#bufferedBytes += bytes;
    this.#bufferedRecords += records.length;
  }

  /** Runs as long as the lane holds records, also while it may not deliver them: nobody has to start it again. */
  async #drain(): Promise<void> {
    // Never inside the fetch that brought the records.
    await Promise.resolve();
    try {
      while (this.#open && this.#buffer.length > 0) {
        if (this.#options.mayDeliver()) await this.#deliver();
        else await this.#wakeup.wait(deliverCheckMs);
      }
    } catch (error) {
      this.#end(faultOf(error, this.#options));
    } finally {
      // In the same step: what comes next finds either records to go on with, or no drain.
      this.#running = null;
    }
  }

  async #deliver(): Promise<void> {
    const next = this.#buffer.shift();
    if (next === undefined) return;
    const wasFull = !this.hasRoom();
    if (next.batch.records.length > 0) await this.#options.onBatch(next.batch);
    this.#position = next.nextOffset;
    this.#atEndMs = Math.max(this.#atEndMs, next.throughMs);
    this.#bufferedBytes -= next.bytes;
    this.#bufferedRecords -= next.batch.records.length;
    if (!wasFull || !this.hasRoom()) return;
    this.#roomMs = performance.now();
    this.#options.onRoom();
  }

  #end(fault: Fault): void {
    if (!this.#open) return;
    this.#open = false;
    this.#buffer.length = 0;
    this.#options.onFault(fault);
  }
}

/** A fetch of another lane of the same partition, without what comes before the offset. */
function restOf(response: FetchedPartition, from: number): FetchedPartition {
  return { ...response, from, records: response.records.filter(({ offset }) => offset >= from) };
}

/** The first place where offsets do not follow each other. */
function gapOf({
  from,
  records,
  nextOffset,
}: FetchedPartition): { expected: number; found: number } | null {
  let expected = from;
  for (const { offset } of records) {
    if (offset !== expected) return { expected, found: offset };
    expected += 1;
  }
  return expected === nextOffset ? null : { expected, found: nextOffset };
}

function faultOf(error: unknown, { topic, partition }: LaneOptions): Fault {
  if (error instanceof Fault) return error;
  return new Fault('handler_failed', 'stop', { facts: { topic, partition }, cause: error });
}
