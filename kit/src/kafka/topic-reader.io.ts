import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { FetchLoops } from './fetch-loops.io.ts';
import { FetchWire } from './fetch-wire.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type LaneOptions, PartitionLane } from './partition-lane.io.ts';
import type { PartitionBounds } from './records.ts';
import { closeWithin, pause } from './waiting.io.ts';
import { Watchdog, watchdogChecks } from './watchdog.ts';

export const defaultMaxWaitMs = 250;

export interface TopicReaderOptions {
  readonly topic: string;
  readonly maxWaitMs: number;
  /** Pause after a fetch with records, milliseconds. */
  readonly restMs: number;
  readonly log?: Log;
  /** `reader_stalled` (retry): no fetch from a broker has finished for `stallMs`; the reader goes on trying. */
  onStall(fault: Fault): void;
}

export type AddedLane = Omit<
  LaneOptions,
  'topic' | 'maxBufferedBytes' | 'maxBufferedRecords' | 'onRoom'
>;

/** Reads a changing set of partitions of one topic; readers and groups are built on it. */
export class TopicReader {
  readonly #limits: LogClientLimits;
  readonly #options: TopicReaderOptions;
  readonly #wire: FetchWire;
  readonly #lanes = new Map<number, PartitionLane>();
  readonly #loops: FetchLoops;
  readonly #watchdog: Watchdog;
  #timer: NodeJS.Timeout | undefined;

  constructor(kafka: Kafka, limits: LogClientLimits, options: TopicReaderOptions) {
    this.#limits = limits;
    this.#options = options;
    this.#wire = new FetchWire(kafka, options.topic, limits);
    this.#watchdog = new Watchdog(limits.stallMs, () => performance.now());
    this.#loops = new FetchLoops({
      wire: this.#wire,
      limits,
      watchdog: this.#watchdog,
      log: (options.log ?? silentLog).child({ topic: options.topic }),
      maxWaitMs: options.maxWaitMs,
      restMs: options.restMs,
      lanes: this.#lanes,
    });
  }

  async connect(): Promise<void> {
    await this.#wire.connect();
    this.#timer = setInterval(() => this.#reportStalls(), this.#limits.stallMs / watchdogChecks);
  }

  /** Throws `partition_unknown` or `offset_out_of_range` (both stop) before anything is read. */
  async assertWithinBounds(positions: ReadonlyMap<number, number>): Promise<void> {
    const partitions = [...positions.keys()];
    const bounds = await this.bounds(partitions);
    for (const [partition, position] of positions) {
      const facts = { topic: this.#options.topic, partition, position };
      const known = bounds.get(partition);
      if (known === undefined) throw new Fault('partition_unknown', 'stop', { facts });
      if (position < known.low || position > known.high)
        throw new Fault('offset_out_of_range', 'stop', { facts: { ...facts, ...known } });
    }
  }

  /** Bounds of these partitions; one that is missing does not exist, also by fresh metadata. */
  async bounds(partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionBounds>> {
    const { maxMetadataTries, maxRetryMs } = this.#limits;
    for (let tried = 1; ; tried += 1) {
      const last = tried === maxMetadataTries;
      try {
        const bounds = await this.#wire.bounds(partitions);
        if (bounds.size === partitions.length || last) return bounds;
      } catch (error) {
        if (last) throw error;
        await pause(maxRetryMs / maxMetadataTries);
      }
      await this.#wire.refresh();
    }
  }

  /** All partitions of the topic by the newest metadata. */
  partitions(): readonly number[] {
    return [...this.#wire.leaders().keys()].sort((a, b) => a - b);
  }

  /** Starts to read a partition; its position must be within bounds. */
  add(options: AddedLane): PartitionLane {
    const lane = new PartitionLane({
      ...options,
      topic: this.#options.topic,
      maxBufferedBytes: this.#limits.maxBufferedBytes,
      maxBufferedRecords: this.#limits.maxBufferedRecords,
      mayDeliver: () => options.mayDeliver(),
      onBatch: (batch) => options.onBatch(batch),
      onFault: (fault) => options.onFault(fault),
      onRoom: () => this.#loops.refresh(),
    });
    this.#lanes.set(lane.partition, lane);
    this.#loops.refresh();
    return lane;
  }

  /** No batch of the lane starts after this call; resolves when the running one has ended. */
  async remove(lane: PartitionLane): Promise<void> {
    if (this.#lanes.get(lane.partition) === lane) this.#lanes.delete(lane.partition);
    await lane.close();
  }

  /** Stops all fetch loops; resolves when the running batches have ended, so a handler must not wait for it. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    const lanes = [...this.#lanes.values()].map((lane) => lane.close());
    await Promise.all([closeWithin(this.#loops.close(), this.#limits.closeTimeoutMs), ...lanes]);
    await this.#wire.disconnect();
  }

  #reportStalls(): void {
    const { topic } = this.#options;
    for (const { key: node, silentMs } of this.#watchdog.newlyStalled())
      this.#options.onStall(
        new Fault('reader_stalled', 'retry', { facts: { topic, node, silentMs } }),
      );
  }
}
