import type { Cluster, Kafka } from 'kafkajs';
import { openCluster } from './kafkajs-connection.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import {
  type IncomingRecord,
  type PartitionBounds,
  parseOffset,
  type RecordHeaders,
} from './records.ts';
import { TargetTopics } from './target-topics.io.ts';
import { LeaderMoved, unlessMoved } from './unless-moved.io.ts';

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
  readonly #cluster: Cluster;
  /** For questions while a fetch waits: a broker answers the requests of one connection in their order. */
  readonly #questions: Cluster;
  readonly #topics: TargetTopics;
  readonly #questionTopics: TargetTopics;
  readonly #limits: LogClientLimits;
  #fetching = 0;

  constructor(kafka: Kafka, limits: LogClientLimits) {
    this.#cluster = openCluster(kafka, limits);
    this.#questions = openCluster(kafka, limits);
    this.#topics = new TargetTopics(this.#cluster);
    this.#questionTopics = new TargetTopics(this.#questions);
    this.#limits = limits;
  }

  async connect(): Promise<void> {
    await this.#cluster.connect();
  }

  /** Learns the leaders of one more topic. */
  async follow(topic: string): Promise<void> {
    await this.#topics.add(topic);
  }

  /**
   * Leader of each partition of a followed topic by the newest metadata; a partition without a leader is absent.
   */
  leaders(topic: string): ReadonlyMap<number, string> {
    const known = this.#cluster.findTopicPartitionMetadata(topic);
    return new Map(
      known.filter((one) => one.leader >= 0).map((one) => [one.partitionId, String(one.leader)]),
    );
  }

  async refresh(): Promise<void> {
    await this.#cluster.connect();
    await Promise.all(this.#connected().map((cluster) => cluster.refreshMetadata()));
  }

  /** Forgets the connection an error came from, so that the next call opens a new one. */
  forget(error: unknown): void {
    const { host, port } = failureOf(error);
    if (host === null || port === null) return;
    for (const cluster of this.#connected()) cluster.removeBroker({ host, port });
  }

  /**
   * One fetch of several partitions of one broker; waits `maxWaitMs` when there is nothing new. Throws kafkajs'
   * errors.
   */
  async fetch(
    node: string,
    positions: readonly FetchPosition[],
    maxWaitMs: number,
  ): Promise<readonly FetchedPartition[]> {
    const hasMoved = () => positions.every((one) => this.#isElsewhere(node, one));
    const moved = {
      silenceMs: maxWaitMs + this.#limits.silenceMs,
      look: () => this.refresh(),
      hasMoved,
    };
    const fetching = this.#fetchFrom(node, positions, maxWaitMs);
    const answer = await unlessMoved(fetching, moved, this.#limits).catch((error: unknown) => {
      if (error instanceof LeaderMoved) void this.#drop(node);
      throw error;
    });
    const asked = new Map(positions.map((one) => [placeOf(one), one.offset]));
    return answer.responses.flatMap(({ topicName: topic, partitions }) =>
      partitions.map((one) => {
        const { partition } = one;
        return fetchedOf(one, { topic, from: asked.get(placeOf({ topic, partition })) ?? 0 });
      }),
    );
  }

  /** Current bounds of these partitions, from their leaders. */
  async bounds(
    topic: string,
    partitions: readonly number[],
  ): Promise<ReadonlyMap<number, PartitionBounds>> {
    const cluster = await this.#free(topic);
    const [lows, highs] = await Promise.all([
      offsetsOf(cluster, { topic, partitions, fromBeginning: true }),
      offsetsOf(cluster, { topic, partitions, fromBeginning: false }),
    ]);
    const bounds = new Map<number, PartitionBounds>();
    for (const [partition, low] of lows) {
      const high = highs.get(partition);
      if (high !== undefined) bounds.set(partition, { low, high });
    }
    return bounds;
  }

  async disconnect(): Promise<void> {
    await Promise.all([this.#cluster.disconnect(), this.#questions.disconnect()]);
  }

  #isElsewhere(node: string, { topic, partition }: FetchPosition): boolean {
    const leader = this.leaders(topic).get(partition);
    return leader !== undefined && leader !== node;
  }

  /** Ends a connection whose answer is not waited for any more: no later request may go there. */
  async #drop(node: string): Promise<void> {
    const broker = await this.#cluster.findBroker({ nodeId: node }).catch(() => null);
    await broker?.disconnect().catch(() => {});
  }

  async #fetchFrom(
    node: string,
    positions: readonly FetchPosition[],
    maxWaitMs: number,
  ): Promise<FetchAnswer> {
    const broker = await this.#cluster.findBroker({ nodeId: node });
    this.#fetching += 1;
    try {
      return await broker.fetch({
        maxWaitTime: maxWaitMs,
        minBytes: 1,
        maxBytes: this.#limits.maxFetchBytes,
        isolationLevel: readUncommitted,
        topics: this.#requests(positions),
      });
    } finally {
      this.#fetching -= 1;
    }
  }

  #connected(): readonly Cluster[] {
    return [this.#cluster, ...(this.#questions.isConnected() ? [this.#questions] : [])];
  }

  /** Connections that no fetch holds up, with the leaders of the topic. */
  async #free(topic: string): Promise<Cluster> {
    if (this.#fetching === 0) return this.#cluster;
    await this.#questions.connect();
    await this.#questionTopics.add(topic);
    return this.#questions;
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

async function offsetsOf(
  cluster: Cluster,
  {
    topic,
    partitions,
    fromBeginning,
  }: {
    readonly topic: string;
    readonly partitions: readonly number[];
    readonly fromBeginning: boolean;
  },
): Promise<ReadonlyMap<number, number>> {
  const asked = partitions.map((partition) => ({ partition }));
  const found = await cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning }]);
  const all = found.flatMap((one) => one.partitions);
  return new Map(all.map(({ partition, offset }) => [partition, parseOffset(offset)]));
}

const readUncommitted = 0;

/** The part of kafkajs' untyped fetch response that is used. */
interface FetchAnswer {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly PartitionAnswer[];
  }[];
}

interface PartitionAnswer {
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

/** A partition of a topic as a key. */
export function placeOf({ topic, partition }: Pick<FetchPosition, 'topic' | 'partition'>): string {
  return `${topic}/${partition}`;
}

function fetchedOf(
  answer: PartitionAnswer,
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

/** Those that occur once; any writer may send a header several times, and then none of them counts. */
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
function endOf({ messages }: PartitionAnswer, from: number): number {
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
