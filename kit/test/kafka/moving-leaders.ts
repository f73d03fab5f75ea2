import { FetchLoops } from '../../src/kafka/fetch-loops.io.ts';
import type { FetchedPartition, FetchPosition } from '../../src/kafka/fetch-wire.io.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { type LaneSilence, PartitionLane } from '../../src/kafka/partition-lane.io.ts';
import { Watchdog } from '../../src/kafka/watchdog.ts';
import { silentLog } from '../../src/log/index.ts';

const topic = 't';
/** Wait of a fetch without records, milliseconds. */
const maxWaitMs = 100;

const answered = (type: string) =>
  Object.assign(new Error(type), { name: 'KafkaJSProtocolError', type, retriable: true });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Partitions on brokers in memory whose leaders move, beside what a client has learnt of them. */
export class MovingLeaders {
  /** Leader of each partition; null while it has none. */
  readonly truth: (string | null)[];
  /** Records of each partition, its end. */
  readonly ends: number[];
  /** Leaders as the client knows them. */
  #known = new Map<number, string>();
  /** Brokers that still answer for what they led, with what they had when they were cut off. */
  readonly cutOff = new Map<string, readonly number[]>();
  /** Brokers that take requests and answer none. */
  readonly silent = new Set<string>();
  /** Partitions whose fetches fail at every broker. */
  readonly broken = new Set<number>();
  /** Brokers that were connected again. */
  readonly renewed: string[] = [];
  /** Fetches of each broker that were begun. */
  readonly fetches = new Map<string, number>();
  readonly endsAsked: (readonly number[])[] = [];
  looks = 0;
  /** Whether the metadata name one broker. */
  isAlone = false;
  /** Called at every await of a request; may move leaders. */
  onAwait: () => void = () => {};
  /** Duration of a request, milliseconds. */
  latencyMs: () => number = () => 2;
  /** Called when leaders have been learnt, as `Brokers` does. */
  onLeaders: () => void = () => {};
  readonly #held = new Map<string, Set<(error: Error) => void>>();

  constructor(leaders: readonly string[]) {
    this.truth = [...leaders];
    this.ends = leaders.map(() => 0);
    this.learn();
  }

  /** The client learns the leaders as they are, by whatever request. */
  learn(): void {
    const led = this.truth.flatMap((node, partition) =>
      node === null ? [] : [[partition, node] as const],
    );
    this.#known = new Map(led);
  }

  leaders = (): ReadonlyMap<number, string> => this.#known;

  refresh = async (): Promise<void> => {
    this.looks += 1;
    await this.#answer();
    this.learn();
    this.onLeaders();
  };

  renew = async (node: string): Promise<void> => {
    this.renewed.push(node);
    for (const reject of this.#held.get(node) ?? []) reject(new Error('connected again'));
    this.#held.delete(node);
  };

  /** Ends the requests that no broker answers. */
  dropRequests(): void {
    for (const node of [...this.#held.keys()]) void this.renew(node);
  }

  bounds = async (_: string, partitions: readonly number[]) => {
    await this.#answer();
    return new Map(partitions.map((one) => [one, { low: 0, high: this.#endAt(one) }]));
  };

  /** The answers of a node that leads all of them. */
  endsAt = async (node: string, places: readonly { readonly partition: number }[]) => {
    this.endsAsked.push(places.map(({ partition }) => partition));
    await this.#answer();
    if (this.silent.has(node)) return this.#hold(node);
    return new Map(
      places.map(({ partition }) => [`${topic}/${partition}`, this.ends[partition] ?? 0]),
    );
  };

  fetch = async (
    node: string,
    positions: readonly FetchPosition[],
    waitMs: number,
  ): Promise<readonly FetchedPartition[]> => {
    this.fetches.set(node, (this.fetches.get(node) ?? 0) + 1);
    await this.#answer();
    if (this.silent.has(node)) return this.#hold(node);
    let found = positions.map((position) => this.#fetched(node, position));
    if (found.some(({ records }) => records.length > 0)) return found;
    await pause(waitMs);
    found = positions.map((position) => this.#fetched(node, position));
    await this.#answer();
    return found;
  };

  async #answer(): Promise<void> {
    this.onAwait();
    await pause(this.latencyMs());
    this.onAwait();
  }

  /** Until the connection is replaced, or the request is given up. */
  #hold(node: string): Promise<never> {
    return new Promise((_, reject) => {
      const held = this.#held.get(node) ?? new Set();
      this.#held.set(node, held.add(reject));
      setTimeout(() => reject(new Error('no answer')), 60_000);
    });
  }

  #endAt(partition: number): number {
    const node = this.#known.get(partition) ?? '';
    return this.cutOff.get(node)?.[partition] ?? this.ends[partition] ?? 0;
  }

  #fetched(node: string, { partition, offset }: FetchPosition): FetchedPartition {
    if (this.broken.has(partition)) throw answered('KAFKA_STORAGE_ERROR');
    const former = this.cutOff.get(node);
    if (this.truth[partition] !== node && former === undefined)
      throw answered('NOT_LEADER_FOR_PARTITION');
    const high = former?.[partition] ?? this.ends[partition] ?? 0;
    if (offset > high)
      throw Object.assign(new Error('out of range'), {
        name: 'KafkaJSOffsetOutOfRange',
        type: 'OFFSET_OUT_OF_RANGE',
        topic,
        partition,
      });
    const count = Math.min(high - offset, 10);
    const records = Array.from({ length: count }, (_, index) => {
      return { offset: offset + index, key: null, value: null, timestampMs: 0 };
    });
    const nextOffset = offset + count;
    return { topic, partition, from: offset, records, nextOffset, highWatermark: high };
  }
}

export interface ReadLane {
  readonly lane: PartitionLane;
  /** Handled offsets. */
  readonly seen: number[];
  readonly faults: string[];
  readonly stalls: LaneSilence[];
}

/** The real loops over these brokers, with a lane for each partition. */
export function readAll(brokers: MovingLeaders, handle: () => Promise<void> = async () => {}) {
  const lanes = new Set<PartitionLane>();
  const { renew, leaders, refresh, fetch, bounds, endsAt: ends } = brokers;
  const loops = new FetchLoops({
    wire: { renew, leaders, refresh, fetch, bounds, ends, isAlone: () => brokers.isAlone },
    limits: defaultLimits,
    watchdog: new Watchdog(defaultLimits.stallMs, () => performance.now()),
    log: silentLog,
    maxWaitMs,
    restMs: 0,
    lanes,
  });
  const read = brokers.truth.map((_, partition): ReadLane => {
    const [seen, faults, stalls]: [number[], string[], LaneSilence[]] = [[], [], []];
    const lane = new PartitionLane({
      topic,
      partition,
      from: 0,
      dense: true,
      maxBufferedBytes: 1_000_000,
      maxBufferedRecords: 20,
      mayDeliver: () => true,
      onBatch: async ({ records }) => {
        await handle();
        seen.push(...records.map(({ offset }) => offset));
      },
      onFault: ({ code }) => faults.push(code),
      onRoom: () => loops.refresh(),
      onStall: (silence) => stalls.push(silence),
    });
    lanes.add(lane);
    return { lane, seen, faults, stalls };
  });
  loops.refresh();
  return { loops, read: read as [ReadLane, ReadLane] };
}
