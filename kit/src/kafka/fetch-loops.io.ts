import type { Log } from '../log/index.ts';
import type { FetchedPartition, FetchPosition, FetchWire } from './fetch-wire.io.ts';
import { failureOf, isAnswer, type KafkajsFailure } from './kafkajs-errors.ts';
import { type LogClientLimits, leaderRetryMs } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import { placeKey } from './send-queue.ts';
import { pause, Wakeup } from './waiting.io.ts';
import type { Watchdog } from './watchdog.ts';

export interface FetchLoopParts {
  readonly wire: Pick<FetchWire, 'leaders' | 'refresh' | 'fetch' | 'bounds'>;
  readonly limits: LogClientLimits;
  readonly watchdog: Watchdog;
  readonly log: Log;
  /** Longest wait of a fetch without records, milliseconds. */
  readonly maxWaitMs: number;
  /**
   * Pause after a fetch with records and without more to come, milliseconds: the next one brings those that came
   * meanwhile.
   */
  readonly restMs: number;
  /** Open lanes; several may read the same partition. */
  readonly lanes: ReadonlySet<PartitionLane>;
}

/** Failures in a row after which one lane is asked for alone: a broken topic must not hold up the others for ever. */
const failuresTogether = 2;

/** The loop of one broker. */
interface BrokerLoop {
  /** Ended by a lane that has room again. */
  readonly room: Wakeup;
  /** Ended by a caller that waits for records. */
  readonly rest: Wakeup;
  /** Fetches so far. */
  turns: number;
  /** Lanes that were asked for alone after failures, so far. */
  probes: number;
  /** The lane to ask for alone next time. */
  probe: PartitionLane | null;
  running: Promise<void>;
}

/** One loop per leading broker: fetches for the lanes that have room, with bounded waits between retries. */
export class FetchLoops {
  readonly #parts: FetchLoopParts;
  readonly #loops = new Map<string, BrokerLoop>();
  #open = true;

  constructor(parts: FetchLoopParts) {
    this.#parts = parts;
  }

  /** Starts loops for brokers that lead a lane, and ends waits for room. Call after lanes or metadata changed. */
  refresh(): void {
    if (!this.#open) return;
    for (const node of this.#leaders().values()) if (!this.#loops.has(node)) this.#startLoop(node);
    this.#wakeAll();
  }

  /** Ends the pauses after records: a caller waits for the next ones. */
  hurry(): void {
    for (const { rest } of this.#loops.values()) rest.wake();
  }

  /** Resolves when no fetch is running. */
  async close(): Promise<void> {
    this.#open = false;
    this.#wakeAll();
    this.hurry();
    await Promise.all([...this.#loops.values()].map(({ running }) => running));
  }

  #wakeAll(): void {
    for (const { room } of this.#loops.values()) room.wake();
  }

  #startLoop(node: string): void {
    const loop: BrokerLoop = {
      room: new Wakeup(),
      rest: new Wakeup(),
      turns: 0,
      probes: 0,
      probe: null,
      running: Promise.resolve(),
    };
    this.#loops.set(node, loop);
    loop.running = this.#run(node, loop).finally(() => {
      this.#loops.delete(node);
      this.#parts.watchdog.forget(node);
      // A lane may have come to this broker while its loop ended.
      if (this.#lanesOf(node).length > 0) this.refresh();
    });
  }

  async #run(node: string, loop: BrokerLoop): Promise<void> {
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
        if (failures >= failuresTogether) probeNext(loop, lanes);
        await this.#turn(node, loop, lanes);
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
    await pause(this.#parts.limits.leaderLookMs);
    await this.#parts.wire.refresh();
    this.refresh();
  }

  async #turn(node: string, loop: BrokerLoop, lanes: readonly PartitionLane[]): Promise<void> {
    const { wire, limits, maxWaitMs, restMs } = this.#parts;
    const probe = this.#takeProbe(loop);
    const ready = (probe === null ? lanes : [probe]).filter((lane) => lane.hasRoom());
    if (ready.length === 0) {
      await loop.room.wait(maxWaitMs);
      return;
    }
    loop.turns += 1;
    const asked = lanesByPlace(rotated(ready, loop.turns));
    const positions = [...asked.values()].map((place) => positionOf(place, loop.turns));
    const isWaiting = ready.length === lanes.length && [...asked.values()].every(isTogether);
    const waitMs = isWaiting ? maxWaitMs : Math.min(limits.busyPollMs, maxWaitMs);
    let [records, isBehind] = [0, false];
    const asking = { askedMs: performance.now(), alone: positions.length === 1 };
    for (const fetched of await wire.fetch(node, positions, waitMs)) {
      for (const lane of asked.get(placeKey(fetched)) ?? []) hand(loop, lane, fetched, asking);
      records += fetched.records.length;
      isBehind ||= fetched.nextOffset < fetched.highWatermark;
    }
    if (records > 0 && !isBehind && restMs > 0) await loop.rest.wait(restMs);
  }

  #takeProbe(loop: BrokerLoop): PartitionLane | null {
    const { probe } = loop;
    loop.probe = null;
    return probe !== null && this.#parts.lanes.has(probe) ? probe : null;
  }

  #lanesOf(node: string): PartitionLane[] {
    return [...this.#leaders()]
      .filter(([lane, leader]) => lane.open && leader === node)
      .map(([lane]) => lane);
  }

  #leaders(): ReadonlyMap<PartitionLane, string> {
    const { lanes, wire } = this.#parts;
    const byTopic = new Map<string, ReadonlyMap<number, string>>();
    const leaders = new Map<PartitionLane, string>();
    for (const lane of lanes) {
      const ofTopic = byTopic.get(lane.topic) ?? wire.leaders(lane.topic);
      byTopic.set(lane.topic, ofTopic);
      leaders.set(lane, ofTopic.get(lane.partition) ?? noLeader);
    }
    return leaders;
  }

  async #recover(node: string, error: unknown, failures: number): Promise<void> {
    const { wire, limits, log } = this.#parts;
    const failure = failureOf(error);
    log.warn(
      { node, cause: failure.name, type: failure.type, failures },
      'a fetch failed, trying again',
    );
    if (failure.name === 'KafkaJSOffsetOutOfRange') {
      await this.#confirmOutOfRange(failure).catch(() => {});
    } else await wire.refresh().catch(() => {});
    if (!this.#open) return;
    await pause(leaderRetryMs(failures, isAnswer(error), limits));
    this.refresh();
  }

  /** A replica that has just become leader may lag for a moment; only its bounds decide. */
  async #confirmOutOfRange({ topic, partition }: KafkajsFailure): Promise<void> {
    if (topic === null || partition === null) return;
    const asked = new Map(
      [...this.#parts.lanes]
        .filter((lane) => lane.topic === topic && lane.partition === partition)
        .map((lane) => [lane, lane.fetchPosition]),
    );
    const bounds = (await this.#parts.wire.bounds(topic, [partition])).get(partition);
    if (bounds === undefined) return;
    for (const [lane, position] of asked)
      if (lane.fetchPosition === position && (position < bounds.low || position > bounds.high))
        lane.fail('offset_out_of_range', { position, low: bounds.low, high: bounds.high });
  }
}

/** Brokers fill a response in the order of the request, so the order changes or the last partition starves. */
function rotated(lanes: readonly PartitionLane[], turns: number): readonly PartitionLane[] {
  const first = turns % lanes.length;
  return [...lanes.slice(first), ...lanes.slice(0, first)];
}

/** Each lane in turn, whatever the fetches between. */
function probeNext(loop: BrokerLoop, lanes: readonly PartitionLane[]): void {
  loop.probe = lanes[loop.probes % lanes.length] ?? null;
  loop.probes += 1;
}

/**
 * Where the hindmost of the lanes of one partition is: the others leave out what they have. Each second time where the
 * foremost is, so that one that is far behind does not hold it up.
 */
function positionOf(lanes: readonly PartitionLane[], turns: number): FetchPosition {
  const [{ topic, partition }] = lanes as [PartitionLane];
  const offsets = lanes.map((lane) => lane.fetchPosition);
  const offset = turns % 2 === 0 ? Math.min(...offsets) : Math.max(...offsets);
  return { topic, partition, offset };
}

/**
 * Compaction can leave a stored batch without records, whose span kafkajs does not report; the broker returns it for
 * each fetch. A response can also be full before a partition is reached, so only a batch that was fetched alone is
 * skipped.
 */
function hand(
  loop: BrokerLoop,
  lane: PartitionLane,
  fetched: FetchedPartition,
  { askedMs, alone }: { readonly askedMs: number; readonly alone: boolean },
): void {
  const empty = fetched.records.length === 0 && fetched.nextOffset === fetched.from;
  const hollow = empty && !lane.dense && fetched.highWatermark > fetched.from;
  if (hollow && !alone) loop.probe = lane;
  lane.accept(hollow && alone ? { ...fetched, nextOffset: fetched.from + 1 } : fetched, askedMs);
}

function lanesByPlace(lanes: readonly PartitionLane[]): ReadonlyMap<string, PartitionLane[]> {
  const places = new Map<string, PartitionLane[]>();
  for (const lane of lanes) {
    const place = placeKey(lane);
    places.set(place, [...(places.get(place) ?? []), lane]);
  }
  return places;
}

/** Whether the lanes of one partition need the same records next. */
function isTogether(lanes: readonly PartitionLane[]): boolean {
  return lanes.every((lane) => lane.fetchPosition === lanes[0]?.fetchPosition);
}

/** Stands for the broker of partitions that have no leader at the moment. */
const noLeader = 'none';
