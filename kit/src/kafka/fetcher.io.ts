import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { FetchLoops } from './fetch-loops.io.ts';
import { FetchWire } from './fetch-wire.io.ts';
import type { LogClientLimits } from './limits.ts';
import { lostEndMs, type PartitionLane } from './partition-lane.io.ts';
import type { PartitionBounds } from './records.ts';
import { closeWithin, pause } from './waiting.io.ts';
import { Watchdog } from './watchdog.ts';

export interface FetcherOptions {
  readonly maxWaitMs: number;
  /** Pause after a fetch with records, milliseconds. */
  readonly restMs: number;
  readonly log: Log;
}

/** Connections and fetch loops for lanes of any topics: one fetch per broker brings the records of all of them. */
export class Fetcher {
  readonly #limits: LogClientLimits;
  readonly #wire: FetchWire;
  readonly #lanes = new Set<PartitionLane>();
  readonly #loops: FetchLoops;
  #isClosed = false;

  constructor(kafka: Kafka, limits: LogClientLimits, options: FetcherOptions) {
    this.#limits = limits;
    this.#wire = new FetchWire(kafka, limits);
    const watchdog = new Watchdog(limits.stallMs, () => performance.now());
    const parts = { ...options, wire: this.#wire, limits, watchdog, lanes: this.#lanes };
    const loops = new FetchLoops(parts);
    this.#wire.onLeaders(() => loops.refresh());
    this.#loops = loops;
  }

  async connect(): Promise<void> {
    await this.#wire.connect();
  }

  /** Learns the leaders of one more topic. Call before a lane of it is added. */
  async follow(topic: string): Promise<void> {
    await this.#wire.follow(topic);
  }

  /**
   * Bounds of these partitions, each with the end that it must have at least; one that is missing does not exist, also
   * by fresh metadata. A broker that ends before is a former leader, or records are lost: that is believed once no
   * other one has answered for `lostEndMs`. Throws `reader_closed` (stop) when it was closed meanwhile.
   */
  async bounds(
    topic: string,
    ends: ReadonlyMap<number, number>,
  ): Promise<ReadonlyMap<number, PartitionBounds>> {
    for (let believedMs = Number.POSITIVE_INFINITY; ; ) {
      const bounds = await this.#bounds(topic, [...ends.keys()]);
      if (!endsBefore(bounds, ends) || performance.now() >= believedMs) return bounds;
      believedMs = Math.min(believedMs, performance.now() + lostEndMs);
      await this.#pause(topic);
      await this.#wire.refresh().catch(() => {});
    }
  }

  /** Fetches for these lanes from now on; the first fetch is for all of them. */
  addAll(lanes: Iterable<PartitionLane>): void {
    for (const lane of lanes) this.#lanes.add(lane);
    this.#loops.refresh();
  }

  /** The lane stays open; what is fetched for it meanwhile is still handed to it. */
  drop(lane: PartitionLane): void {
    this.#lanes.delete(lane);
  }

  /** A lane has room again. */
  resume(): void {
    this.#loops.refresh();
  }

  /** Fetches at once instead of after the pause. */
  hurry(): void {
    this.#loops.hurry();
  }

  /** Stops the fetch loops. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await closeWithin(this.#loops.close(), this.#limits.closeTimeoutMs);
    await this.#wire.disconnect();
  }

  async #bounds(topic: string, partitions: readonly number[]) {
    const { maxMetadataTries } = this.#limits;
    for (let tried = 1; ; tried += 1) {
      const last = tried === maxMetadataTries;
      try {
        if (tried > 1) await this.#wire.refresh();
        const bounds = await this.#wire.bounds(topic, partitions);
        if (last || partitions.every((one) => bounds.has(one))) return bounds;
      } catch (error) {
        if (last) throw error;
      }
      await this.#pause(topic);
    }
  }

  /** Before another try, which would connect again. */
  async #pause(topic: string): Promise<void> {
    const { maxMetadataTries, maxRetryMs } = this.#limits;
    if (!this.#isClosed) await pause(maxRetryMs / maxMetadataTries);
    if (this.#isClosed) throw new Fault('reader_closed', 'stop', { facts: { topic } });
  }
}

/** Whether a partition that is there ends before it should. */
function endsBefore(
  bounds: ReadonlyMap<number, PartitionBounds>,
  ends: ReadonlyMap<number, number>,
): boolean {
  return [...bounds].some(([partition, { high }]) => high < (ends.get(partition) ?? 0));
}
