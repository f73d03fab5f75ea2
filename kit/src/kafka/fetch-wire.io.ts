import type { Kafka } from 'kafkajs';
import { Fault } from '../fault/index.ts';
import { Brokers } from './brokers.io.ts';
import type { OffsetsResponse, OpenBroker } from './kafkajs-cluster.io.ts';
import type { LogClientLimits } from './limits.ts';
import {
  type IncomingRecord,
  type PartitionBounds,
  parseOffset,
  type RecordHeaders,
} from './records.ts';
import { placeKey } from './send-queue.ts';

/** A partition and the offset to read from. */
export interface FetchPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The records of one partition in one fetch. */
export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  /** The requested offset. */
  readonly from: number;
  /** Records at or after `from`, in order; may be empty. */
  readonly records: readonly IncomingRecord[];
  /** Offset after everything the broker sent, also after records that compaction removed. */
  readonly nextOffset: number;
  readonly highWatermark: number;
}

/**
 * Reading without a consumer group. kafkajs' own consumer waits for its slowest partition before it fetches again,
 * reacts to an out-of-range offset by committing a default one and continuing there, and can stop silently; none of
 * that is used here.
 */
export class FetchWire {
  readonly #brokers: Brokers;
  readonly #limits: LogClientLimits;

  constructor(kafka: Kafka, limits: LogClientLimits) {
    this.#brokers = new Brokers(kafka, limits);
    this.#limits = limits;
  }

  async connect(): Promise<void> {
    await this.#brokers.connect();
  }

  /** Learns the leaders of one more topic. */
  async follow(topic: string): Promise<void> {
    await this.#brokers.load([topic]);
  }

  /**
   * Leader of each partition of a followed topic by the newest metadata; a partition without a leader is absent.
   */
  leaders(topic: string): ReadonlyMap<number, string> {
    return this.#brokers.leaders(topic);
  }

  /** Calls back when other leaders have been found, by whatever request. */
  onLeaders(changed: () => void): void {
    this.#brokers.onLeaders(changed);
  }

  /** New connections to a broker that answers nothing; requests on the old ones fail. */
  async renew(node: string): Promise<void> {
    await this.#brokers.renew(node);
  }

  /** Whether the newest metadata name one broker: then nothing else can lead. */
  isAlone(): boolean {
    return this.#brokers.isAlone();
  }

  /** Looks up the leaders of all followed topics. */
  async refresh(): Promise<void> {
    await this.#brokers.refresh();
  }

  /**
   * One fetch of several partitions of one broker; waits `maxWaitMs` when there is nothing new. Rejects as
   * `Brokers.askLeader`.
   */
  async fetch(
    node: string,
    positions: readonly FetchPosition[],
    maxWaitMs: number,
  ): Promise<readonly FetchedPartition[]> {
    const request = {
      maxWaitTime: maxWaitMs,
      minBytes: 1,
      maxBytes: this.#limits.maxFetchBytes,
      isolationLevel: readUncommitted,
      topics: this.#requests(positions),
    };
    const send = (broker: OpenBroker): Promise<FetchResponse> => broker.fetch(request);
    const asking = { node, places: positions, brokerWaitMs: maxWaitMs, send };
    const answer = await this.#brokers.askLeader(asking);
    const asked = new Map(positions.map((one) => [placeKey(one), one.offset]));
    return answer.responses.flatMap(({ topicName: topic, partitions }) =>
      partitions.map((one) => {
        const { partition } = one;
        return fetchedOf(one, { topic, from: asked.get(placeKey({ topic, partition })) ?? 0 });
      }),
    );
  }

  /**
   * Current bounds of these partitions, from their leaders; one that does not exist is left out. Rejects with
   * `log_away` (retry) while one has no leader.
   */
  async bounds(
    topic: string,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, PartitionBounds>> {
    const byLeader = new Map<string, number[]>();
    for (const partition of partitions) {
      const node = this.#brokers.leaderOf(placeKey({ topic, partition }));
      if (node === undefined) continue;
      if (node === null)
        throw new Fault('log_away', 'retry', { facts: { topic, partition, cause: 'no leader' } });
      byLeader.set(node, [...(byLeader.get(node) ?? []), partition]);
    }
    const asks = [...byLeader].map(([node, led]) => this.#boundsAt(node, topic, led));
    return new Map((await Promise.all(asks)).flat());
  }

  /** The end of each of these partitions (`placeKey`) by one request to the broker that leads them. */
  async ends(
    node: string,
    places: readonly Omit<FetchPosition, 'offset'>[],
  ): Promise<ReadonlyMap<string, number>> {
    return await this.#offsetsAt(node, places, latest);
  }

  async disconnect(): Promise<void> {
    await this.#brokers.disconnect();
  }

  async #boundsAt(
    node: string,
    topic: string,
    partitions: readonly number[],
  ): Promise<readonly (readonly [number, PartitionBounds])[]> {
    const places = partitions.map((partition) => ({ topic, partition }));
    const at = (timestamp: string) => this.#offsetsAt(node, places, timestamp);
    const [lows, highs] = await Promise.all([at(earliest), at(latest)]);
    return partitions.flatMap((partition) => {
      const key = placeKey({ topic, partition });
      const [low, high] = [lows.get(key), highs.get(key)];
      return low === undefined || high === undefined ? [] : [[partition, { low, high }] as const];
    });
  }

  async #offsetsAt(
    node: string,
    places: readonly Omit<FetchPosition, 'offset'>[],
    timestamp: string,
  ): Promise<ReadonlyMap<string, number>> {
    const byTopic = new Map<string, Set<number>>();
    for (const { topic, partition } of places)
      byTopic.set(topic, (byTopic.get(topic) ?? new Set()).add(partition));
    const topics = [...byTopic].map(([topic, asked]) => ({
      topic,
      partitions: [...asked].map((partition) => ({ partition, timestamp })),
    }));
    const send = (broker: OpenBroker): Promise<OffsetsResponse> =>
      broker.listOffsets({ isolationLevel: readUncommitted, topics });
    const { responses } = await this.#brokers.askLeader({ node, places, brokerWaitMs: 0, send });
    const found = responses.flatMap(({ topic, partitions }) =>
      partitions.map(
        ({ partition, offset }) => [placeKey({ topic, partition }), parseOffset(offset)] as const,
      ),
    );
    return new Map(found);
  }

  /** In the order of the positions, by topic. */
  #requests(positions: readonly FetchPosition[]) {
    const maxBytes = this.#limits.maxPartitionFetchBytes;
    const byTopic = new Map<
      string,
      { partition: number; fetchOffset: string; maxBytes: number }[]
    >();
    for (const { topic, partition, offset } of positions) {
      const partitions = byTopic.get(topic) ?? [];
      partitions.push({ partition, fetchOffset: String(offset), maxBytes });
      byTopic.set(topic, partitions);
    }
    return [...byTopic].map(([topic, partitions]) => ({ topic, partitions }));
  }
}

/** Times that stand for the first offset and for the one after the last. */
const [earliest, latest] = ['-2', '-1'];
const readUncommitted = 0;

/** The part of kafkajs' untyped fetch response that is used. */
interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly PartitionResponse[];
  }[];
}

interface PartitionResponse {
  readonly partition: number;
  readonly highWatermark: string;
  readonly messages: readonly {
    readonly offset: string;
    readonly key: Buffer | null;
    readonly value: Buffer | null;
    readonly timestamp: string;
    readonly isControlRecord?: boolean;
    readonly headers?: Readonly<Record<string, unknown>>;
    readonly batchContext?: { readonly firstOffset?: string; readonly lastOffsetDelta?: number };
  }[];
}

function fetchedOf(
  answer: PartitionResponse,
  { topic, from }: { readonly topic: string; readonly from: number },
): FetchedPartition {
  const records: IncomingRecord[] = [];
  for (const message of answer.messages) {
    const { key, value } = message;
    const offset = parseOffset(message.offset);
    // A broker sends whole stored batches, so the first records may lie before the offset asked for.
    if (offset < from || message.isControlRecord === true) continue;
    const headers = headersIn(message.headers);
    const record = { offset, key, value, timestampMs: Number(message.timestamp) };
    records.push(headers === null ? record : { ...record, headers });
  }
  const highWatermark = parseOffset(answer.highWatermark);
  return {
    topic,
    partition: answer.partition,
    from,
    records,
    nextOffset: endOf(answer, from),
    highWatermark,
  };
}

/** Headers that occur once; any writer may send a header several times, and then none of them counts. */
function headersIn(found: Readonly<Record<string, unknown>> = {}): RecordHeaders | null {
  let headers: Record<string, Buffer> | null = null;
  for (const name in found) {
    const bytes = found[name];
    if (!Buffer.isBuffer(bytes)) continue;
    headers ??= Object.create(null) as Record<string, Buffer>;
    headers[name] = bytes;
  }
  return headers;
}

/** A compacted batch keeps its offset span when its last records are gone. */
function endOf({ messages }: PartitionResponse, from: number): number {
  const last = messages.at(-1);
  if (last === undefined) return from;
  const first = last.batchContext?.firstOffset;
  const span = last.batchContext?.lastOffsetDelta;
  const end =
    first === undefined || span === undefined
      ? parseOffset(last.offset)
      : parseOffset(first) + span;
  return Math.max(from, end + 1);
}
