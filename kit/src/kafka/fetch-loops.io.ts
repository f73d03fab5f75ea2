import type { Log } from '../log/index.ts';
import type { FetchedPartition, FetchWire } from './fetch-wire.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import { pause, Wakeup } from './waiting.io.ts';
import type { Watchdog } from './watchdog.ts';

export interface FetchLoopParts {
  readonly wire: Pick<FetchWire, 'leaders' | 'refresh' | 'forget' | 'fetch' | 'bounds'>;
  readonly limits: LogClientLimits;
  readonly watchdog: Watchdog;
  readonly log: Log;
  /** Longest wait of a fetch without records, milliseconds. */
  readonly maxWaitMs: number;
  /** Pause after a fetch with records, milliseconds: the next one brings those that came meanwhile. */
  readonly restMs: number;
  /** Open lanes, by partition. */
  readonly lanes: ReadonlyMap<number, PartitionLane>;
}

/** One loop per leading broker: fetches for the lanes that have room, with bounded waits between retries. */
export class FetchLoops {
  readonly #parts: FetchLoopParts;
  readonly #running = new Map<string, Promise<void>>();
  readonly #wakeups = new Map<string, Wakeup>();
  /** Per broker: the lane to ask for alone next time. */
  readonly #probes = new Map<string, PartitionLane>();
  #turns = 0;
  #open = true;

  constructor(parts: FetchLoopParts) {
    this.#parts = parts;
  }

  /** Starts loops for brokers that lead a lane, and ends waits for room. Call after lanes or metadata changed. */
  refresh(): void {
    if (!this.#open) return;
    const { lanes, wire } = this.#parts;
    const leaders = wire.leaders();
    for (const partition of lanes.keys()) {
      const node = leaders.get(partition) ?? noLeader;
      if (!this.#running.has(node)) this.#startLoop(node);
    }
    this.#wakeAll();
  }

  /** Resolves when no fetch is running. */
  async close(): Promise<void> {
    this.#open = false;
    this.#wakeAll();
    await Promise.all(this.#running.values());
  }

  #wakeAll(): void {
    for (const wakeup of this.#wakeups.values()) wakeup.wake();
  }

  #startLoop(node: string): void {
    this.#wakeups.set(node, new Wakeup());
    const running = this.#loop(node).finally(() => {
      this.#running.delete(node);
      this.#wakeups.delete(node);
      this.#parts.watchdog.forget(node);
      // A lane may have come to this broker while its loop ended.
      if (this.#lanesOf(node).length > 0) this.refresh();
    });
    this.#running.set(node, running);
  }

  async #loop(node: string): Promise<void> {
    const { watchdog } = this.#parts;
    watchdog.progress(node);
    for (let failures = 0; this.#open; ) {
      const lanes = this.#lanesOf(node);
      if (lanes.length === 0) return;
      try {
        if (node === noLeader) {
          await this.#lookForLeaders();
          continue;
        }
        await this.#turn(node, lanes);
        watchdog.progress(node);
        failures = 0;
      } catch (error) {
        await this.#recover(node, error, failures);
        failures += 1;
      }
    }
  }

  /** No progress for the watchdog: partitions without a leader are a stall. */
  async #lookForLeaders(): Promise<void> {
    await pause(this.#parts.limits.maxRetryMs);
    await this.#parts.wire.refresh();
    this.refresh();
  }

  /** Brokers fill a response in the order of the request, so the order changes or the last partition starves. */
  #rotated(lanes: readonly PartitionLane[]): readonly PartitionLane[] {
    this.#turns += 1;
    const first = this.#turns % lanes.length;
    return [...lanes.slice(first), ...lanes.slice(0, first)];
  }

  async #turn(node: string, lanes: readonly PartitionLane[]): Promise<void> {
    const { wire, limits, maxWaitMs, restMs } = this.#parts;
    const probe = this.#takeProbe(node);
    const ready = (probe === null ? lanes : [probe]).filter((lane) => lane.hasRoom());
    if (ready.length === 0) {
      await this.#wakeups.get(node)?.wait(maxWaitMs);
      return;
    }
    const waitMs = ready.length < lanes.length ? Math.min(limits.busyPollMs, maxWaitMs) : maxWaitMs;
    const positions = this.#rotated(ready).map(({ partition, fetchPosition: offset }) => ({
      partition,
      offset,
    }));
    const asked = new Map(ready.map((lane) => [lane.partition, lane]));
    let records = 0;
    for (const fetched of await wire.fetch(node, positions, waitMs)) {
      const lane = asked.get(fetched.partition);
      if (lane !== undefined) this.#hand(node, lane, fetched, positions.length === 1);
      records += fetched.records.length;
    }
    if (records > 0 && restMs > 0) await pause(restMs);
  }

  /**
   * Compaction can leave a stored batch without records, whose span kafkajs does not report; the broker returns it
   * for each fetch. A response can also be full before a partition is reached, so only a batch that was fetched alone
   * is skipped.
   */
  #hand(node: string, lane: PartitionLane, fetched: FetchedPartition, alone: boolean): void {
    const empty = fetched.records.length === 0 && fetched.nextOffset === fetched.from;
    const hollow = empty && !lane.dense && fetched.highWatermark > fetched.from;
    if (hollow && !alone) this.#probes.set(node, lane);
    lane.accept(hollow && alone ? { ...fetched, nextOffset: fetched.from + 1 } : fetched);
  }

  #takeProbe(node: string): PartitionLane | null {
    const probe = this.#probes.get(node) ?? null;
    this.#probes.delete(node);
    return probe;
  }

  #lanesOf(node: string): PartitionLane[] {
    const leaders = this.#parts.wire.leaders();
    return [...this.#parts.lanes.values()].filter(
      (lane) => lane.open && (leaders.get(lane.partition) ?? noLeader) === node,
    );
  }

  async #recover(node: string, error: unknown, failures: number): Promise<void> {
    const { wire, limits, log } = this.#parts;
    const failure = failureOf(error);
    log.warn(
      { node, cause: failure.name, type: failure.type, failures },
      'a fetch failed, trying again',
    );
    if (failure.name === 'KafkaJSOffsetOutOfRange' && failure.partition !== null) {
      await this.#confirmOutOfRange(failure.partition).catch(() => {});
    } else {
      wire.forget(error);
      await wire.refresh().catch(() => {});
    }
    if (!this.#open) return;
    await pause(Math.min(limits.initialRetryMs * 2 ** Math.min(failures, 10), limits.maxRetryMs));
    this.refresh();
  }

  /** A replica that has just become leader may lag for a moment; only its bounds decide. */
  async #confirmOutOfRange(partition: number): Promise<void> {
    const lane = this.#parts.lanes.get(partition);
    if (lane === undefined) return;
    const asked = lane.fetchPosition;
    const bounds = (await this.#parts.wire.bounds([partition])).get(partition);
    if (bounds === undefined || lane.fetchPosition !== asked) return;
    if (asked < bounds.low || asked > bounds.high)
      lane.fail('offset_out_of_range', { position: asked, low: bounds.low, high: bounds.high });
  }
}

/** Stands for the broker of partitions that have no leader at the moment. */
const noLeader = 'none';
