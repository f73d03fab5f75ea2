import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import type { Log } from '../log/index.ts';
import { FetchLoops } from './fetch-loops.io.ts';
import { FetchWire } from './fetch-wire.io.ts';
import type { LogClientLimits } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import type { PartitionBounds } from './records.ts';
import { closeWithin, pause } from './waiting.io.ts';
import { Watchdog, watchdogChecks } from './watchdog.ts';

export interface FetcherOptions {
  readonly maxWaitMs: number;
  /** Pause after a fetch with records, milliseconds. */
  readonly restMs: number;
  readonly log: Log;
}

/** A broker from which no fetch has finished for so long, milliseconds. */
export type Stall = (facts: { readonly node: string; readonly silentMs: number }) => void;

/** Connections and fetch loops for lanes of any topics: one fetch per broker brings the records of all of them. */
export class Fetcher {
  readonly #limits: LogClientLimits;
  readonly #wire: FetchWire;
  readonly #lanes = new Set<PartitionLane>();
  readonly #loops: FetchLoops;
  readonly #watchdog: Watchdog;
  readonly #stalls = new Set<Stall>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(kafka: Kafka, limits: LogClientLimits, options: FetcherOptions) {
    this.#limits = limits;
    this.#wire = new FetchWire(kafka, limits);
    this.#watchdog = new Watchdog(limits.stallMs, () => performance.now());
    this.#loops = new FetchLoops({
      ...options,
      wire: this.#wire,
      limits,
      watchdog: this.#watchdog,
      lanes: this.#lanes,
    });
  }

  async connect(): Promise<void> {
    await this.#wire.connect();
    this.#timer = setInterval(() => this.#reportStalls(), this.#limits.stallMs / watchdogChecks);
  }

  /** Learns the leaders of one more topic. Call before a lane of it is added. */
  async follow(topic: string): Promise<void> {
    await this.#wire.follow(topic);
  }

  onStall(stall: Stall): void {
    this.#stalls.add(stall);
  }

  offStall(stall: Stall): void {
    this.#stalls.delete(stall);
  }

  /**
   * Bounds of these partitions; one that is missing does not exist, also by fresh metadata. Throws `reader_closed`
   * (stop) when it was closed meanwhile.
   */
  async bounds(
    topic: string,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, PartitionBounds>> {
    const { maxMetadataTries, maxRetryMs } = this.#limits;
    for (let tried = 1; ; tried += 1) {
      const last = tried === maxMetadataTries;
      try {
        if (tried > 1) await this.#wire.refresh();
        const bounds = await this.#wire.bounds(topic, partitions);
        if (bounds.size === partitions.length || last) return bounds;
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
    clearInterval(this.#timer);
    await closeWithin(this.#loops.close(), this.#limits.closeTimeoutMs);
    await this.#wire.disconnect();
  }

  #reportStalls(): void {
    for (const { key: node, silentMs } of this.#watchdog.newlyStalled())
      for (const stall of this.#stalls) stall({ node, silentMs });
  }
}
