import { type OutgoingRecord, type RecordPlace, recordBytes } from './records.ts';

/** One caller's records of one partition; never split over two batches. */
export interface PendingPart {
  readonly records: readonly OutgoingRecord[];
  readonly bytes: number;
  /** The first of the records is durable at this offset, the others follow it. */
  resolve(firstOffset: number): void;
  reject(error: unknown): void;
}

/** Bounds of a queue and of the requests made of it. */
export interface SendQueueLimits {
  readonly maxQueuedRecords: number;
  readonly maxQueuedBytes: number;
  readonly maxBatchRecords: number;
  readonly maxBatchBytes: number;
}

/** Records and bytes that a request has taken. */
export interface TakenSize {
  records: number;
  bytes: number;
}

/**
 * The records that wait, first in, first out in each partition; bounded by records and bytes. Partitions are listed in
 * the order in which they were last added or served, so none waits for ever.
 */
export class SendQueue {
  readonly #limits: SendQueueLimits;
  readonly #waiting = new Map<string, PendingPart[]>();
  #records = 0;
  #bytes = 0;

  constructor(limits: SendQueueLimits) {
    this.#limits = limits;
  }

  get records(): number {
    return this.#records;
  }

  /** Partitions with waiting records. */
  keys(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** Whether so much more fits; a send larger than the whole queue fits into an empty one. */
  hasRoom({ records, bytes }: TakenSize): boolean {
    if (this.#records === 0) return true;
    const { maxQueuedRecords, maxQueuedBytes } = this.#limits;
    return this.#records + records <= maxQueuedRecords && this.#bytes + bytes <= maxQueuedBytes;
  }

  /** Counts records that are not queued yet, so that they have their room later. */
  reserve({ records, bytes }: TakenSize): void {
    this.#records += records;
    this.#bytes += bytes;
  }

  release({ records, bytes }: TakenSize): void {
    this.#records -= records;
    this.#bytes -= bytes;
  }

  /** Adds a part whose room is reserved. */
  push(key: string, part: PendingPart): void {
    const parts = this.#waiting.get(key);
    if (parts === undefined) this.#waiting.set(key, [part]);
    else parts.push(part);
  }

  /**
   * The longest run of parts of a partition that fits into what a request has left; at least one when the request is
   * empty. Adds to `taken`.
   */
  take(key: string, taken: TakenSize): readonly PendingPart[] {
    const parts = this.#waiting.get(key) ?? [];
    let count = 0;
    for (const part of parts) {
      const records = taken.records + part.records.length;
      const bytes = taken.bytes + part.bytes;
      const fits = records <= this.#limits.maxBatchRecords && bytes <= this.#limits.maxBatchBytes;
      if (!fits && taken.records > 0) break;
      taken.records = records;
      taken.bytes = bytes;
      count += 1;
    }
    return this.#remove(key, parts, count);
  }

  /** Everything that waits for a partition. */
  takeAll(key: string): readonly PendingPart[] {
    const parts = this.#waiting.get(key) ?? [];
    return this.#remove(key, parts, parts.length);
  }

  #remove(key: string, parts: readonly PendingPart[], count: number): readonly PendingPart[] {
    const [taken, rest] = [parts.slice(0, count), parts.slice(count)];
    if (count > 0) this.#waiting.delete(key);
    if (count > 0 && rest.length > 0) this.#waiting.set(key, rest);
    for (const { records, bytes } of taken) this.release({ records: records.length, bytes });
    return taken;
  }
}

/** Sum of the records' bytes with their frames. */
export function bytesOf(records: readonly OutgoingRecord[]): number {
  return records.reduce((sum, record) => sum + recordBytes(record), 0);
}

/** Names one partition of one topic. */
export function placeKey(record: Pick<OutgoingRecord, 'topic' | 'partition'>): string {
  return `${record.topic}/${record.partition}`;
}

/** The partition that a key names. */
export function placeOf(key: string): { readonly topic: string; readonly partition: number } {
  const at = key.lastIndexOf('/');
  return { topic: key.slice(0, at), partition: Number(key.slice(at + 1)) };
}

/** The topics of partitions. */
export function topicsOf(keys: readonly string[]): ReadonlySet<string> {
  return new Set(keys.map((key) => placeOf(key).topic));
}

/** The places of records that follow each other. */
export function placesFrom(partition: number, first: number, count: number): RecordPlace[] {
  return Array.from({ length: count }, (_, index) => ({ partition, offset: first + index }));
}
