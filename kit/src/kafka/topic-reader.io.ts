import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { type Log, silentLog } from '../log/index.ts';
import { Fetcher } from './fetcher.io.ts';
import type { LogClientLimits } from './limits.ts';
import { type LaneOptions, type LaneSilence, PartitionLane } from './partition-lane.io.ts';
import type { PartitionBounds } from './records.ts';
import type { SharedFetcher } from './shared-fetchers.io.ts';
import { Wakeup } from './waiting.io.ts';

/** Long poll of readers that say nothing else, milliseconds: a partition that is added waits as long. */
export const defaultMaxWaitMs = 500;

export interface TopicReaderOptions {
  readonly topic: string;
  readonly maxWaitMs: number;
  /** Pause after a fetch with records, milliseconds. */
  readonly restMs: number;
  readonly log?: Log;
  /**
   * `reader_stalled` (retry): no fetch of the partition was answered by its leader for `stallMs`; the reader goes on
   * trying.
   */
  onStall(fault: Fault, partition: number): void;
}

/** Time between two tries to read with others, milliseconds. */
const shareRetryMs = 1_000;

export type AddedLane = Omit<
  LaneOptions,
  'topic' | 'maxBufferedBytes' | 'maxBufferedRecords' | 'onRoom' | 'onStall'
>;

/** Reads a changing set of partitions of one topic; readers and groups are built on it. */
export class TopicReader {
  readonly #limits: LogClientLimits;
  readonly #options: TopicReaderOptions;
  readonly #lanes = new Set<PartitionLane>();
  #fetcher: Fetcher;
  #end: () => Promise<void>;
  /** The end of the connections before `share`. */
  #former: Promise<void> = Promise.resolve();
  #isShared = false;
  #closed = false;
  readonly #closing = new Wakeup();

  constructor(kafka: Kafka, limits: LogClientLimits, options: TopicReaderOptions) {
    const { topic, maxWaitMs, restMs } = options;
    const log = (options.log ?? silentLog).child({ topic });
    const fetcher = new Fetcher(kafka, limits, { maxWaitMs, restMs, log });
    this.#limits = limits;
    this.#options = options;
    this.#fetcher = fetcher;
    this.#end = () => fetcher.close();
  }

  /** With its own connections, or with those of others. Needs `close`, also when it rejects. */
  async connect(shared?: SharedFetcher): Promise<void> {
    if (shared === undefined) await this.#fetcher.connect();
    else {
      this.#end = () => shared.leave();
      this.#fetcher = await shared.join();
    }
    await this.#fetcher.follow(this.#options.topic);
  }

  /**
   * Throws `partition_unknown` or `offset_out_of_range` (both stop) before anything is read: for a position, or an end,
   * that the broker does not have.
   */
  async assertWithinBounds(
    positions: ReadonlyMap<number, number>,
    ends: ReadonlyMap<number, number> = new Map(),
  ): Promise<void> {
    const least = [...positions].map(
      ([partition, position]) =>
        [partition, Math.max(position, ends.get(partition) ?? position)] as const,
    );
    const bounds = await this.#bounds(new Map(least));
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
    return await this.#bounds(new Map(partitions.map((partition) => [partition, 0])));
  }

  /**
   * When the newest fetch of a partition that is read was answered by its leader, `performance.now()`; -Infinity before
   * the first.
   */
  answeredMs(partition: number): number {
    const lanes = [...this.#lanes].filter((lane) => lane.open && lane.partition === partition);
    return Math.max(...lanes.map((lane) => lane.progressMs));
  }

  /** Lanes that were not allowed to deliver may do so again. */
  wake(): void {
    for (const lane of this.#lanes) lane.wake();
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
      onStall: (silence) => this.#stalled(options.partition, silence),
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

  /**
   * From now on reads with others, and leaves its connections. While it cannot, it reads on as before and tries again;
   * resolves after the first try.
   */
  async share(shared: SharedFetcher): Promise<void> {
    if (this.#isShared) return;
    this.#isShared = true;
    if (!(await this.#tryToShare(shared))) void this.#shareLater(shared);
  }

  /** Stops all fetches; resolves when the running batches have ended, so a handler must not wait for it. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.wake();
    const lanes = [...this.#lanes].map((lane) => this.remove(lane));
    await Promise.all([this.#end(), this.#former, ...lanes]);
  }

  async #bounds(ends: ReadonlyMap<number, number>): Promise<ReadonlyMap<number, PartitionBounds>> {
    const fetcher = this.#fetcher;
    try {
      return await fetcher.bounds(this.#options.topic, ends);
    } catch (error) {
      // Its connections were closed meanwhile, because it shares now.
      if (fetcher === this.#fetcher) throw error;
      return await this.#bounds(ends);
    }
  }

  #stalled(partition: number, { node, silentMs }: LaneSilence): void {
    const facts = { topic: this.#options.topic, partition, node: node ?? 'none', silentMs };
    this.#options.onStall(new Fault('reader_stalled', 'retry', { facts }), partition);
  }

  async #shareLater(shared: SharedFetcher): Promise<void> {
    do await this.#closing.wait(shareRetryMs);
    while (!this.#closed && !(await this.#tryToShare(shared)));
  }

  async #tryToShare(shared: SharedFetcher): Promise<boolean> {
    try {
      const common = await shared.join();
      await common.follow(this.#options.topic);
      if (this.#closed) throw new Fault('reader_closed', 'stop');
      this.#moveTo(common, () => shared.leave());
      return true;
    } catch {
      await shared.leave();
      return false;
    }
  }

  #moveTo(fetcher: Fetcher, end: () => Promise<void>): void {
    const before = this.#fetcher;
    const endBefore = this.#end;
    this.#fetcher = fetcher;
    this.#end = end;
    for (const lane of this.#lanes) before.drop(lane);
    fetcher.addAll(this.#lanes);
    // Connections that the former fetcher leaves open end with the process.
    this.#former = endBefore().catch(() => {});
  }
}
