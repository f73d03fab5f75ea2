import type { Broker, Cluster, Kafka } from 'kafkajs';
import { Fault, within } from '../fault/index.ts';
import { openCluster } from './kafkajs-connection.io.ts';
import { failureOf } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { NotReached } from './not-reached.ts';
import type { ProducerIdentity } from './partition-batch.ts';
import { type EncodingBroker, sendEncoded } from './produce-encoded.io.ts';
import { type SequencedRecords, writeProduceRequest } from './produce-request.ts';
import { RequestMemory } from './request-memory.ts';
import { firstOffsets, type ProduceAnswer } from './result-coverage.ts';
import { placeKey } from './send-queue.ts';
import { LeaderMoved, unlessMoved } from './unless-moved.io.ts';

/** Records for one broker. */
export interface ProduceRequest {
  readonly identity: ProducerIdentity;
  readonly batches: readonly SequencedRecords[];
  /** Called before the first byte leaves this process: until then nothing can be written. */
  onSent(): void;
}

/** kafkajs has the call, its types do not. */
type ProducingBroker = Broker &
  EncodingBroker & {
    initProducerId(request: { transactionTimeout: number }): Promise<{
      producerId: string;
      producerEpoch: number;
    }>;
  };

/** Only transactions have one; the broker wants a number all the same. */
const noTransactionMs = 60_000;

/**
 * Writing without kafkajs' producer, which makes one send of the partitions of several leaders, asks no broker twice in
 * it and gives sequence numbers back after a failure (traps.md), and without its encoder. Metadata, connections, the
 * choice of a version and the answers are kafkajs'.
 */
export class ProduceWire {
  readonly #cluster: Cluster;
  readonly #limits: LogClientLimits;
  /** Leader of each known partition; null while it has none. */
  readonly #leaders = new Map<string, string | null>();
  readonly #topics = new Set<string>();
  /** Brokers whose last request failed without an answer: others are asked first. */
  readonly #suspects = new Set<string>();
  readonly #memory = new RequestMemory();
  #asked = 0;

  constructor(kafka: Kafka, limits: LogClientLimits) {
    this.#cluster = openCluster(kafka, limits);
    this.#limits = limits;
  }

  async connect(): Promise<void> {
    await this.#cluster.connect();
  }

  isKnown(key: string): boolean {
    return this.#leaders.has(key);
  }

  /** The broker that leads a partition by the newest metadata; null while none does. */
  leaderOf(key: string): string | null {
    return this.#leaders.get(key) ?? null;
  }

  /**
   * Loads the partitions and leaders of these topics, from a broker that answers. A topic that does not exist adds
   * nothing. Rejects with kafkajs' errors.
   */
  async load(topics: Iterable<string>): Promise<void> {
    for (const topic of topics) {
      try {
        await this.#loadTopic(topic);
      } catch (error) {
        if (failureOf(error).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
      }
    }
  }

  /** A new identity; any broker gives one. */
  async openIdentity(): Promise<ProducerIdentity> {
    const opened = await this.#ask((broker) =>
      broker.initProducerId({ transactionTimeout: noTransactionMs }),
    );
    return { producerId: Number(opened.producerId), epoch: opened.producerEpoch };
  }

  /**
   * One request to one broker; resolves with the first offset of each partition that the result covers. Rejects with
   * `NotReached`, or with the error of kafkajs: with one partition it is the broker's answer for it.
   */
  async produce(
    node: string,
    { identity, batches, onSent }: ProduceRequest,
  ): Promise<ReadonlyMap<string, number>> {
    const broker = await this.#find(node).catch((error: unknown) => {
      throw new NotReached(error);
    });
    onSent();
    const { ackTimeoutMs } = this.#limits;
    const content = { identity, ackTimeoutMs, timestampMs: Date.now(), batches };
    let memory: Buffer = Buffer.alloc(0);
    const body = writeProduceRequest(content, (bytes) => {
      memory = this.#memory.take(node, bytes);
      return memory;
    });
    // kafkajs ends a request in time, but not one whose connection it closes at that moment.
    const lateMs = this.#limits.requestTimeoutMs * 2;
    const late = () => new Error('no answer');
    const answering = this.#watched(node, broker, () =>
      within(sendEncoded(broker, body), lateMs, late),
    );
    const answer: ProduceAnswer = await this.#unlessMoved(node, batches, answering).catch(
      (error: unknown) => {
        // Its answer is not waited for any more, so the connection cannot be used.
        if (error instanceof LeaderMoved) void broker.disconnect().catch(() => {});
        throw error;
      },
    );
    this.#memory.giveBack(node, memory);
    return firstOffsets(answer);
  }

  async disconnect(): Promise<void> {
    await this.#cluster.disconnect();
  }

  #unlessMoved<T>(
    node: string,
    batches: readonly SequencedRecords[],
    answering: Promise<T>,
  ): Promise<T> {
    const topics = new Set(batches.map(({ topic }) => topic));
    const keys = batches.map(placeKey);
    const look = () => {
      this.#suspects.add(node);
      return this.load(topics);
    };
    const isElsewhere = (leader: string | null) => leader !== null && leader !== node;
    const hasMoved = () => keys.every((key) => isElsewhere(this.leaderOf(key)));
    const { silenceMs } = this.#limits;
    return unlessMoved(answering, { silenceMs, look, hasMoved }, this.#limits);
  }

  async #loadTopic(topic: string): Promise<void> {
    if (!this.#topics.has(topic)) {
      // So that kafkajs knows the brokers and asks for no other topics; its leaders are not used.
      await this.#cluster.addMultipleTargetTopics([topic]);
      this.#topics.add(topic);
    }
    const { topicMetadata } = await this.#ask((broker) => broker.metadata([topic]));
    for (const { topic: name, partitionMetadata } of topicMetadata)
      for (const { partitionId, leader } of partitionMetadata) {
        const key = placeKey({ topic: name, partition: partitionId });
        this.#leaders.set(key, leader < 0 ? null : String(leader));
      }
  }

  /** Asks one broker after the other until one answers. */
  async #ask<T>(request: (broker: ProducingBroker) => Promise<T>): Promise<T> {
    const late = () => new Error('no answer');
    let failure: unknown = new Fault('no_broker', 'retry');
    for (const node of this.#brokers()) {
      try {
        const broker = await this.#find(node);
        return await this.#watched(node, broker, () =>
          within(request(broker), this.#limits.metadataTimeoutMs, late),
        );
      } catch (error) {
        if (failureOf(error).type !== '') throw error;
        failure = error;
      }
    }
    throw failure;
  }

  /** All brokers, those that answered last time first, beginning with another one each time. */
  #brokers(): readonly string[] {
    const nodes = this.#cluster.getNodeIds().map(String);
    this.#asked += 1;
    const first = nodes.length === 0 ? 0 : this.#asked % nodes.length;
    const rotated = [...nodes.slice(first), ...nodes.slice(0, first)];
    const isSuspect = (node: string) => this.#suspects.has(node);
    return [...rotated.filter((node) => !isSuspect(node)), ...rotated.filter(isSuspect)];
  }

  async #find(node: string): Promise<ProducingBroker> {
    const late = () => new Error('no connection');
    try {
      const finding = this.#cluster.findBroker({ nodeId: node });
      return (await within(finding, this.#limits.connectTimeoutMs, late)) as ProducingBroker;
    } catch (error) {
      this.#suspects.add(node);
      throw error;
    }
  }

  /** A connection that has lost an answer is closed: the next request opens a new one. */
  async #watched<T>(node: string, broker: Broker, request: () => Promise<T>): Promise<T> {
    try {
      const answer = await request();
      this.#suspects.delete(node);
      return answer;
    } catch (error) {
      if (failureOf(error).type !== '') this.#suspects.delete(node);
      else {
        this.#suspects.add(node);
        void broker.disconnect().catch(() => {});
      }
      throw error;
    }
  }
}
