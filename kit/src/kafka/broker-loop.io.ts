import type { Log } from '../log/index.ts';
import type { FetchedPartition, FetchPosition, FetchWire } from './fetch-wire.io.ts';
import { failureOf, isAnswer, type KafkajsFailure } from './kafkajs-errors.ts';
import { LanesApart } from './lanes-apart.ts';
import { type LogClientLimits, leaderRetryMs } from './limits.ts';
import type { PartitionLane } from './partition-lane.io.ts';
import { placeKey } from './send-queue.ts';
import { pause, Wakeup } from './waiting.io.ts';

export interface BrokerLoopParts {
  readonly wire: Pick<FetchWire, 'leaders' | 'refresh' | 'fetch' | 'bounds' | 'ends'>;
  readonly limits: LogClientLimits;
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

/** Lanes of a broker, and those of them that one fetch asks for. */
interface Turn {
  /** All lanes of the broker. */
  readonly lanes: readonly PartitionLane[];
  readonly asked: readonly PartitionLane[];
}

/** Fetches from one broker for the lanes that it leads and that have room, with bounded waits between retries. */
export class BrokerLoop {
  readonly #node: string;
  readonly #parts: BrokerLoopParts;
  readonly #isOpen: () => boolean;
  readonly #apart: LanesApart<PartitionLane>;
  /** Ended by a lane that has room again. */
  readonly #room = new Wakeup();
  /** Ended by a caller that waits for records. */
  readonly #rest = new Wakeup();
  /** Fetches so far. */
  #turns = 0;
  #isAskingEnds = false;

  constructor(node: string, parts: BrokerLoopParts, isOpen: () => boolean) {
    this.#node = node;
    this.#parts = parts;
    this.#isOpen = isOpen;
    this.#apart = new LanesApart(parts.limits.leaderLookMs);
  }

  /** The open lanes whose partitions the broker leads by the newest metadata. */
  lanes(): PartitionLane[] {
    return [...this.#parts.lanes].filter((lane) => lane.open && this.#isLeaderOf(lane));
  }

  /** Resolves when the broker leads no lane any more, or its owner has closed. */
  async run(): Promise<void> {
    for (let failures = 0; this.#isOpen(); ) {
      const lanes = this.lanes();
      if (lanes.length === 0) return;
      const turn = { lanes, asked: this.#apart.choose(lanes, performance.now()) };
      try {
        await this.#take(turn);
        failures = 0;
      } catch (error) {
        this.#apart.failed(turn.asked, lanes, performance.now());
        await this.#recover(error, failures);
        failures += 1;
      }
    }
  }

  /** Lanes may have room again. */
  wake(): void {
    this.#room.wake();
  }

  /** Ends the pause after records. */
  hurry(): void {
    this.#rest.wake();
  }

  /** Asks for the ends of lanes that no fetch has reached for a while: how far behind they are. */
  async lookAtEnds(): Promise<void> {
    const { wire, limits } = this.#parts;
    const oldMs = performance.now() - limits.leaderCheckMs;
    const lanes = this.lanes().filter(({ answeredMs }) => answeredMs < oldMs);
    if (this.#isAskingEnds || lanes.length === 0) return;
    this.#isAskingEnds = true;
    try {
      const ends = await wire.ends(this.#node, lanes);
      for (const lane of lanes) lane.noteEnd(ends.get(placeKey(lane)) ?? 0);
    } catch {
      // Asked again at the next look.
    } finally {
      this.#isAskingEnds = false;
    }
  }

  #isLeaderOf({ topic, partition }: Pick<FetchPosition, 'topic' | 'partition'>): boolean {
    return this.#parts.wire.leaders(topic).get(partition) === this.#node;
  }

  async #take({ lanes, asked }: Turn): Promise<void> {
    const { wire, limits, maxWaitMs, restMs } = this.#parts;
    const waitsApart = this.#apart.size > 0;
    const shortMs = Math.min(limits.busyPollMs, maxWaitMs);
    if (asked.length === 0) {
      await this.#room.wait(waitsApart ? shortMs : maxWaitMs);
      return;
    }
    this.#turns += 1;
    const places = lanesByPlace(rotated(asked, this.#turns));
    const positions = [...places.values()].map((place) => positionOf(place, this.#turns));
    const isAll = asked.length === lanes.length && [...places.values()].every(isTogether);
    const askedMs = performance.now();
    const found = await wire.fetch(this.#node, positions, isAll ? maxWaitMs : shortMs);
    this.#apart.answered(asked);
    for (const fetched of found)
      for (const lane of places.get(placeKey(fetched)) ?? [])
        this.#hand(lane, fetched, { askedMs, isAlone: positions.length === 1 });
    const isBehind = found.some(({ nextOffset, highWatermark }) => nextOffset < highWatermark);
    const hasRecords = found.some(({ records }) => records.length > 0);
    if (hasRecords && !isBehind && restMs > 0) await this.#rest.wait(restMs);
  }

  /**
   * Only what the leader answers is progress: leaders may have changed during the fetch.
   *
   * Compaction can leave a stored batch without records, whose span kafkajs does not report; the broker returns it for
   * each fetch. A response can also be full before a partition is reached, so only a batch that was fetched alone is
   * skipped.
   */
  #hand(
    lane: PartitionLane,
    fetched: FetchedPartition,
    { askedMs, isAlone }: { readonly askedMs: number; readonly isAlone: boolean },
  ): void {
    const isLeader = this.#isLeaderOf(fetched);
    if (isLeader) lane.answered(performance.now());
    const empty = fetched.records.length === 0 && fetched.nextOffset === fetched.from;
    const hollow = empty && !lane.dense && fetched.highWatermark > fetched.from;
    if (hollow && !isAlone) this.#apart.separate(lane);
    const taken = hollow && isAlone ? { ...fetched, nextOffset: fetched.from + 1 } : fetched;
    lane.accept(taken, isLeader ? askedMs : Number.NEGATIVE_INFINITY);
  }

  async #recover(error: unknown, failures: number): Promise<void> {
    const { wire, limits, log } = this.#parts;
    const failure = failureOf(error);
    log.warn(
      { node: this.#node, cause: failure.name, type: failure.type, failures },
      'a fetch failed, trying again',
    );
    if (failure.name === 'KafkaJSOffsetOutOfRange')
      await this.#confirmOutOfRange(failure).catch(() => {});
    else await wire.refresh().catch(() => {});
    if (this.#isOpen()) await pause(leaderRetryMs(failures, isAnswer(error), limits));
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
      if (lane.fetchPosition === position) lane.refused(bounds, performance.now());
  }
}

/** Brokers fill a response in the order of the request, so the order changes or the last partition starves. */
function rotated(lanes: readonly PartitionLane[], turns: number): readonly PartitionLane[] {
  const first = turns % lanes.length;
  return [...lanes.slice(first), ...lanes.slice(0, first)];
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
