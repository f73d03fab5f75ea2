import type { Kafka } from 'kafkajs';
import { Brokers } from './brokers.io.ts';
import { type OpenBroker, openForWaits } from './kafkajs-cluster.io.ts';
import { isUnknownTopic } from './kafkajs-errors.ts';
import type { LogClientLimits } from './limits.ts';
import { NotReached } from './not-reached.ts';
import type { ProducerIdentity } from './partition-batch.ts';
import { sendEncoded } from './produce-encoded.io.ts';
import { type SequencedRecords, writeProduceRequest } from './produce-request.ts';
import { RequestMemory } from './request-memory.ts';
import { firstOffsets, type ProduceResponse } from './result-coverage.ts';

/** Records for one broker. */
export interface ProduceRequest {
  readonly identity: ProducerIdentity;
  readonly batches: readonly SequencedRecords[];
  /**
   * Called before the first byte leaves this process: until then nothing can be written. What it throws ends the
   * request.
   */
  onSent(): void;
}

/** Only transactions have one; the broker wants a number all the same. */
const noTransactionMs = 60_000;

/**
 * Writing without kafkajs' producer, which makes one send of the partitions of several leaders, asks no broker twice in
 * it and gives sequence numbers back after a failure (traps.md), and without its encoder. The choice of a version and
 * the answers are kafkajs'.
 */
export class ProduceWire {
  readonly #brokers: Brokers;
  readonly #limits: LogClientLimits;
  readonly #memory = new RequestMemory();

  constructor(kafka: Kafka, limits: LogClientLimits) {
    this.#brokers = new Brokers(kafka, limits);
    this.#limits = limits;
  }

  async connect(): Promise<void> {
    await this.#brokers.connect();
  }

  isKnown(key: string): boolean {
    return this.#brokers.leaderOf(key) !== undefined;
  }

  /** The broker that leads a partition by the newest metadata; null while none does. */
  leaderOf(key: string): string | null {
    return this.#brokers.leaderOf(key) ?? null;
  }

  /**
   * Loads the partitions and leaders of these topics, from a broker that answers. A topic that does not exist adds
   * nothing. Rejects with kafkajs' errors.
   */
  async load(topics: Iterable<string>): Promise<void> {
    const all = [...topics];
    try {
      await this.#brokers.load(all);
    } catch (error) {
      if (!isUnknownTopic(error)) throw error;
      if (all.length > 1) for (const topic of all) await this.load([topic]);
    }
  }

  /** A new identity; any broker gives one. */
  async openIdentity(): Promise<ProducerIdentity> {
    const opened = await this.#brokers.ask((broker) =>
      broker.initProducerId({ transactionTimeout: noTransactionMs }),
    );
    return { producerId: Number(opened.producerId), epoch: opened.producerEpoch };
  }

  /**
   * One request to one broker; resolves with the first offset of each partition that the result covers. Rejects with
   * `NotReached`, `LeaderMoved`, or with the error of kafkajs: with one partition it is the broker's answer for it.
   */
  async produce(
    node: string,
    { identity, batches, onSent }: ProduceRequest,
  ): Promise<ReadonlyMap<string, number>> {
    let memory: Buffer = Buffer.alloc(0);
    const send = async (broker: OpenBroker): Promise<ProduceResponse> => {
      await openForWaits(broker).catch((error: unknown) => {
        throw new NotReached(error);
      });
      onSent();
      const { ackTimeoutMs } = this.#limits;
      const content = { identity, ackTimeoutMs, timestampMs: Date.now(), batches };
      const body = writeProduceRequest(content, (bytes) => {
        memory = this.#memory.take(node, bytes);
        return memory;
      });
      return await sendEncoded(broker, body);
    };
    const request = { node, places: batches, brokerWaitMs: 0, send };
    const answer = await this.#brokers.askLeader(request);
    this.#memory.giveBack(node, memory);
    return firstOffsets(answer);
  }

  async disconnect(): Promise<void> {
    await this.#brokers.disconnect();
  }
}
