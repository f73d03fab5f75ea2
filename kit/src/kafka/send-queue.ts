import { type OutgoingRecord, type RecordPlace, recordBytes } from './records.ts';

/** One caller's records with its promise; never split over two sends. */
export interface PendingSend {
  readonly records: readonly OutgoingRecord[];
  readonly bytes: number;
  resolve(places: readonly RecordPlace[]): void;
  reject(error: unknown): void;
}

/** Bounds of a queue and of the batches taken from it. */
export interface SendQueueLimits {
  readonly maxQueuedRecords: number;
  readonly maxQueuedBytes: number;
  readonly maxBatchRecords: number;
  readonly maxBatchBytes: number;
}

/** First in, first out; bounded by records and bytes. */
export class SendQueue {
  readonly #limits: SendQueueLimits;
  #waiting: PendingSend[] = [];
  #records = 0;
  #bytes = 0;

  constructor(limits: SendQueueLimits) {
    this.#limits = limits;
  }

  get records(): number {
    return this.#records;
  }

  /** False when it does not fit; a send larger than the whole queue fits into an empty one. */
  push(send: PendingSend): boolean {
    const fits =
      this.#records + send.records.length <= this.#limits.maxQueuedRecords &&
      this.#bytes + send.bytes <= this.#limits.maxQueuedBytes;
    if (!fits && this.#waiting.length > 0) return false;
    this.#waiting.push(send);
    this.#records += send.records.length;
    this.#bytes += send.bytes;
    return true;
  }

  /** The longest run of sends from the front that fits into one batch; at least one when any waits. */
  takeBatch(): readonly PendingSend[] {
    let count = 0;
    let records = 0;
    let bytes = 0;
    for (const send of this.#waiting) {
      records += send.records.length;
      bytes += send.bytes;
      const fits = records <= this.#limits.maxBatchRecords && bytes <= this.#limits.maxBatchBytes;
      if (!fits && count > 0) break;
      count += 1;
    }
    return this.#remove(this.#waiting.slice(0, count), this.#waiting.slice(count));
  }

  /** Takes out every waiting send that `matches`; the others keep their order. */
  takeMatching(matches: (send: PendingSend) => boolean): readonly PendingSend[] {
    const taken = this.#waiting.filter(matches);
    return this.#remove(
      taken,
      this.#waiting.filter((send) => !taken.includes(send)),
    );
  }

  #remove(taken: readonly PendingSend[], rest: PendingSend[]): readonly PendingSend[] {
    this.#waiting = rest;
    for (const send of taken) {
      this.#records -= send.records.length;
      this.#bytes -= send.bytes;
    }
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
