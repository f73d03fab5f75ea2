import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { Fetcher, type Stall } from './fetcher.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type LaneOptions, PartitionLane } from './partition-lane.io.ts';
import type { PartitionBounds } from './records.ts';
import type { SharedFetcher } from './shared-fetchers.io.ts';

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
  readonly #lanes = new Set<PartitionLane>();
  readonly #stall: Stall;
  #fetcher: Fetcher;
  #end: () => Promise<void>;
  /** The end of the connections before `share`. */
  #former: Promise<void> = Promise.resolve();
  #isShared = false;
  #closed = false;

  constructor(kafka: Kafka, limits: LogClientLimits, options: TopicReaderOptions) {
    const { topic, maxWaitMs, restMs } = options;
    const log = (options.log ?? silentLog).child({ topic });
    const fetcher = new Fetcher(kafka, limits, { maxWaitMs, restMs, log });
    this.#limits = limits;
    this.#options = options;
    this.#fetcher = fetcher;
    this.#end = () => fetcher.close();
    this.#stall = (silence) => {
      const facts = { topic, ...silence };
      options.onStall(new Fault('reader_stalled', 'retry', { facts }));
    };
  }

  /** With its own connections, or with those of others. Needs `close`, also when it rejects. */
  async connect(shared?: SharedFetcher): Promise<void> {
    if (shared === undefined) await this.#fetcher.connect();
    else {
      this.#end = () => shared.leave();
      this.#fetcher = await shared.join();
    }
    await this.#fetcher.follow(this.#options.topic);
    this.#fetcher.onStall(this.#stall);
  }

  /**
   * Throws `partition_unknown` or `offset_out_of_range` (both stop) before anything is read: for a position, or an end,
   * that the broker does not have.
   */
  async assertWithinBounds(
    positions: ReadonlyMap<number, number>,
    ends: ReadonlyMap<number, number> = new Map(),
  ): Promise<void> {
    const partitions = [...positions.keys()];
    const bounds = await this.bounds(partitions);
    for (const [partition, position] of positions) {
      const facts = { topic: this.#options.topic, partition, position };
      const known = bounds.get(partition);
      if (known === undefined) throw new Fault('partition_unknown', 'stop', { facts });
      const end = ends.get(partition) ?? position;
      if (position < known.low || Math.max(position, end) > known.high)
        throw new Fault('offset_out_of_range', 'stop', { facts: { ...facts, end, ...known } });
    }
  }

  /** Bounds of these partitions; one that is missing does not exist, also by fresh metadata. */
  async bounds(partitions: readonly number[]): Promise<ReadonlyMap<number, PartitionBounds>> {
    const fetcher = this.#fetcher;
    try {
      return await fetcher.bounds(this.#options.topic, partitions);
    } catch (error) {
      // Its connections were closed meanwhile, because it shares now.
      if (fetcher === this.#fetcher) throw error;
      return await this.bounds(partitions);
    }
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
      onRoom: () => this.#fetcher.resume(),
    });
    this.#lanes.add(lane);
    this.#fetcher.addAll([lane]);
    return lane;
  }

  /** No batch of the lane starts after this call; resolves when the running one has ended. */
  async remove(lane: PartitionLane): Promise<void> {
    this.#lanes.delete(lane);
    this.#fetcher.drop(lane);
    await lane.close();
  }

  /** Fetches at once instead of after the pause. */
  hurry(): void {
    this.#fetcher.hurry();
  }

  /** From now on reads with others, and leaves its connections. When it cannot, it reads on as before. */
  async share(shared: SharedFetcher): Promise<void> {
    if (this.#isShared) return;
    this.#isShared = true;
    try {
      const common = await shared.join();
      await common.follow(this.#options.topic);
      if (this.#closed) throw new Fault('reader_closed', 'stop');
      this.#moveTo(common, () => shared.leave());
    } catch {
      this.#isShared = false;
      await shared.leave();
    }
  }

  /** Stops all fetches; resolves when the running batches have ended, so a handler must not wait for it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#fetcher.offStall(this.#stall);
    const lanes = [...this.#lanes].map((lane) => this.remove(lane));
    await Promise.all([this.#end(), this.#former, ...lanes]);
  }

  #moveTo(fetcher: Fetcher, end: () => Promise<void>): void {
    const before = this.#fetcher;
    const endBefore = this.#end;
    before.offStall(this.#stall);
    this.#fetcher = fetcher;
    this.#end = end;
    fetcher.onStall(this.#stall);
    for (const lane of this.#lanes) before.drop(lane);
    fetcher.addAll(this.#lanes);
    // What is left open of it ends with the process.
    this.#former = endBefore().catch(() => {});
  }
}
