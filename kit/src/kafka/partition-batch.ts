import type { OutgoingRecord } from './records.ts';
import type { PendingPart } from './send-queue.ts';

/** Under which the log drops repetitions of a batch. A larger epoch shuts out what is on its way under a smaller. */
export interface ProducerIdentity {
  readonly producerId: number;
  readonly epoch: number;
}

/** The identity and the number of the first record, the same in every attempt of a batch. */
interface BatchStamp {
  readonly identity: ProducerIdentity;
  readonly firstSequence: number;
}

/** The records of one partition in one request; at most one batch of a partition is not settled. */
export class PartitionBatch {
  readonly key: string;
  readonly topic: string;
  readonly partition: number;
  readonly parts: readonly PendingPart[];
  readonly records: readonly OutgoingRecord[];
  /** Null until the first attempt. */
  stamp: BatchStamp | null = null;
  /** A broker may have appended it in an earlier attempt. */
  mayBeWritten = false;
  /** A request of several partitions was refused, and the answer does not say which of them: it goes alone. */
  alone = false;
  inFlight = false;
  /** The present attempt has left this process. */
  sent = false;
  settled = false;
  attempts = 0;
  /** No attempt before, monotonic milliseconds. */
  notBeforeMs = 0;

  constructor(key: string, parts: readonly PendingPart[]) {
    const records = parts.length === 1 ? parts[0]?.records : parts.flatMap((part) => part.records);
    this.key = key;
    this.parts = parts;
    this.records = records ?? [];
    this.topic = this.records[0]?.topic ?? '';
    this.partition = this.records[0]?.partition ?? -1;
  }

  /** All parts are durable, the first record at this offset. */
  resolve(firstOffset: number): void {
    this.settled = true;
    let next = firstOffset;
    for (const part of this.parts) {
      part.resolve(next);
      next += part.records.length;
    }
  }

  reject(error: unknown): void {
    this.settled = true;
    for (const part of this.parts) part.reject(error);
  }
}

/** Bounds of the numbers that an identity gives. */
interface SequenceLimits {
  readonly maxSequence: number;
  readonly maxEpoch: number;
}

/**
 * Numbers the records of each partition under the identity of the producer. Each batch keeps its numbers in all its
 * attempts; after a batch that was given up the epoch is a larger one, so that this batch, when it is still on its way,
 * can never be appended after a later one.
 */
export class BatchNumbers {
  readonly #limits: SequenceLimits;
  readonly #next = new Map<string, BatchStamp>();
  #identity: ProducerIdentity | null = null;

  constructor(limits: SequenceLimits) {
    this.#limits = limits;
  }

  /** Null while a new producer id is needed. */
  get identity(): ProducerIdentity | null {
    return this.#identity;
  }

  begin(identity: ProducerIdentity): void {
    this.#identity = identity;
  }

  /** Numbers a batch under the present identity; null when there is none. */
  stamp(key: string, records: number): BatchStamp | null {
    if (this.#identity === null) return null;
    const known = this.#next.get(key);
    if (known?.identity === this.#identity && known.firstSequence > this.#limits.maxSequence)
      this.retire(this.#identity);
    const identity = this.#identity;
    if (identity === null) return null;
    const firstSequence = known?.identity === identity ? known.firstSequence : 0;
    this.#next.set(key, { identity, firstSequence: firstSequence + records });
    return { identity, firstSequence };
  }

  /** No batch is numbered under this identity or an earlier one any more. */
  retire(identity: ProducerIdentity, endsProducerId = false): void {
    if (this.#identity === null || this.#identity.producerId !== identity.producerId) return;
    const { producerId, epoch } = this.#identity;
    if (endsProducerId || epoch >= this.#limits.maxEpoch) this.#identity = null;
    else if (epoch === identity.epoch) this.#identity = { producerId, epoch: epoch + 1 };
  }
}
