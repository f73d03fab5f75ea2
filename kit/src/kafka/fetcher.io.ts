import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { FetchLoops } from './fetch-loops.io.ts';
import { FetchWire } from './fetch-wire.io.ts';
import type { LogClientLimits } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
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
   * by fresh metadata. A broker that knows less is asked only until there is one that knows more: it may be a former
   * leader. Throws `reader_closed` (stop) when it was closed meanwhile.
   */
  async bounds(
    topic: string,
    ends: ReadonlyMap<number, number>,
  ): Promise<ReadonlyMap<number, PartitionBounds>> {
    const { maxMetadataTries, maxRetryMs } = this.#limits;
    for (let tried = 1; ; tried += 1) {
      const last = tried === maxMetadataTries;
      try {
        if (tried > 1) await this.#wire.refresh();
        const bounds = await this.#wire.bounds(topic, [...ends.keys()]);
        const isThere = ([one, end]: readonly [number, number]) =>
          (bounds.get(one)?.high ?? -1) >= end;
        if ([...ends].every(isThere) || last) return bounds;
      } catch (error) {
        if (last) throw error;
        await pause(maxRetryMs / maxMetadataTries);
      }
      // Another try would connect again.
      if (this.#isClosed) throw new Fault('reader_closed', 'stop', { facts: { topic } });
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
}
