import type { Kafka } from 'kafkajs';
import { present } from '../assert/index.ts';
import type { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import type { LogClientLimits } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import type { RecordBatch } from './records.ts';
import type { SharedFetcher, SharedFetchers } from './shared-fetchers.io.ts';
import { defaultMaxWaitMs, TopicReader } from './topic-reader.io.ts';

/** Explicit partitions from explicit offsets; no group, no commits. */
export interface ReaderOptions {
  readonly topic: string;
  /** Partition to the first offset to read. */
  readonly positions: ReadonlyMap<number, number>;
  /** Offsets must follow each other without a gap: for every topic that is not compacted. */
  readonly dense: boolean;
  /**
   * One call at a time per partition, the next one after it resolved; partitions run concurrently and a slow one
   * delays no other. Must not wait for `close()` of its own reader.
   */
  onBatch(batch: RecordBatch): Promise<void>;
  /**
   * `offset_gap`, `offset_out_of_range` (stop): the log no longer has the next record; the reader has stopped and
   * never skips. `handler_failed` (stop), or the `Fault` that `onBatch` threw: the reader has stopped.
   * `reader_stalled` (retry), with `facts.partition`: no fetch of it was answered by its leader for `stallMs`; the
   * reader goes on trying and loses nothing.
   */
  onFault(fault: Fault): void;
  /** Longest wait of a fetch without records, 200 to 500 milliseconds; a record ends it at once. */
  readonly maxWaitMs?: number;
  /**
   * Pause after a fetch with records, at most 100 milliseconds, for a reader that has time: a fetch costs as much as
   * many records. Default none.
   */
  readonly restMs?: number;
  /**
   * Reads until `share` together with the other readers of this process that catch up, over one connection for all. For
   * reads of what the log has by now.
   */
  readonly catchesUp?: boolean;
  /** Ends [.., end) that the broker must have; a position above its end is an `offset_out_of_range`. */
  readonly ends?: ReadonlyMap<number, number>;
  readonly log?: Log;
}

/** Whether a reader goes on after this fault; after any other, those of its handler included, it has stopped. */
export function isStall({ code }: Fault): boolean {
  return code === 'reader_stalled';
}

export interface LogReader {
  /** Next offset to handle. */
  position(partition: number): number;
  /** Records of the partition that are not handled yet, by the largest end that its leader has named. */
  lagRecords(partition: number): number;
  /**
   * When the leader answered the newest fetch of the partition, `performance.now()`; -Infinity before the first. A
   * partition that is left out of fetches because its handler is slow counts as answered.
   */
  answeredMs(partition: number): number;
  /**
   * When the newest fetch began that reached the end of the partition and whose records are all handled,
   * `performance.now()`; -Infinity before the first.
   */
  atEndMs(partition: number): number;
  /**
   * From now on reads with the other readers of this process that share and have the same waits: one connection and one
   * fetch for all. One that is far behind slows the others down. While it cannot, it reads on as before and tries
   * again; resolves after the first try.
   */
  share(): Promise<void>;
  /** Fetches at once instead of after `restMs`: a caller waits for the newest records. */
  hurry(): void;
  /** No batch starts after this call; resolves when the running ones have ended. */
  close(): Promise<void>;
}

/** Parts of the client that its readers need. */
export interface ReaderParts {
  readonly kafka: Kafka;
  readonly limits: LogClientLimits;
  readonly shared: SharedFetchers;
}

/**
 * Rejects with `offset_out_of_range` or `partition_unknown` (stop) when a first offset is outside what the broker
 * has; nothing was read then and `onFault` is not called.
 */
export async function openReader(
  { kafka, limits, shared }: ReaderParts,
  options: ReaderOptions,
): Promise<LogReader> {
  const waits = { maxWaitMs: options.maxWaitMs ?? defaultMaxWaitMs, restMs: options.restMs ?? 0 };
  const reader = new TopicReader(kafka, limits, {
    topic: options.topic,
    ...waits,
    ...(options.log === undefined ? {} : { log: options.log }),
    onStall: (fault) => options.onFault(fault),
  });
  try {
    await reader.connect(options.catchesUp === true ? shared.catchingUp() : undefined);
    await reader.assertWithinBounds(options.positions, options.ends);
  } catch (error) {
    await reader.close();
    throw error;
  }
  return new FixedReader(reader, options, shared.of(waits));
}

class FixedReader implements LogReader {
  readonly #reader: TopicReader;
  readonly #shared: SharedFetcher;
  readonly #lanes = new Map<number, PartitionLane>();
  #stopped = false;

  constructor(reader: TopicReader, options: ReaderOptions, shared: SharedFetcher) {
    this.#reader = reader;
    this.#shared = shared;
    for (const [partition, from] of options.positions) {
      const lane = reader.add({
        partition,
        from,
        dense: options.dense,
        mayDeliver: () => !this.#stopped,
        onBatch: (batch) => options.onBatch(batch),
        onFault: (fault) => this.#stop(fault, options),
      });
      this.#lanes.set(partition, lane);
    }
  }

  position(partition: number): number {
    return this.#lane(partition).position;
  }

  lagRecords(partition: number): number {
    return this.#lane(partition).lagRecords;
  }

  answeredMs(partition: number): number {
    return this.#lane(partition).progressMs;
  }

  atEndMs(partition: number): number {
    return this.#lane(partition).atEndMs;
  }

  async share(): Promise<void> {
    await this.#reader.share(this.#shared);
  }

  hurry(): void {
    this.#reader.hurry();
  }

  async close(): Promise<void> {
    this.#stopped = true;
    await this.#reader.close();
  }

  /** One broken partition stops all: a reader of several partitions needs them together. */
  #stop(fault: Fault, options: ReaderOptions): void {
    if (this.#stopped) return;
    this.#stopped = true;
    for (const lane of this.#lanes.values()) void this.#reader.remove(lane);
    options.onFault(fault);
  }

  #lane(partition: number): PartitionLane {
    return present(this.#lanes.get(partition), `partition ${partition} of this reader`);
  }
}
