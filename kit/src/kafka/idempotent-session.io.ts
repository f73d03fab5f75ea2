import type { Kafka, PartitionerArgs, Producer, TopicMessages } from 'kafkajs';
import { retryOptions } from './kafkajs-connection.io.ts';
import type { LogClientLimits } from './limits.ts';
import type { OutgoingRecord, RecordPlace } from './records.ts';
import { placesOf } from './result-coverage.ts';
import { placeKey } from './send-queue.ts';

/**
 * One producer id. It serves one send at a time and is discarded after any send with an unknown outcome: kafkajs
 * would give the same sequence numbers to other records, and the broker would drop those as duplicates.
 */
export interface ProducerSession {
  /** Place of each record; `null` where the result does not cover its partition: the record may be on the log. */
  send(records: readonly OutgoingRecord[]): Promise<readonly (RecordPlace | null)[]>;
  /** Ends every retry of a send that is still running, then the connections. */
  abandon(): void;
  close(): Promise<void>;
}

/** kafkajs does not retry an error that is marked as not retriable. */
class GivenUp extends Error {
  readonly retriable = false;
}

/** kafkajs reloads its metadata and tries again on an error of this name; it has no call for that. */
class MetadataStale extends Error {
  override readonly name = 'KafkaJSMetadataNotLoaded';
}

/** The records' partition stayed unknown to the broker before any request of the send was made: nothing was written. */
export class PartitionMissing extends Error {
  readonly retriable = false;
}

export async function openProducerSession(
  kafka: Kafka,
  limits: LogClientLimits,
): Promise<ProducerSession> {
  const guard = new PartitionGuard(limits.maxMetadataTries);
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    retry: retryOptions(limits),
    createPartitioner: () => (args) => guard.partitionOf(args),
  });
  await producer.connect();
  return new KafkajsSession(producer, guard);
}

/**
 * Takes the place of kafkajs' partitioner, the only part that sees its metadata on each attempt: refuses partitions
 * that the metadata lacks (instead of the silent drop), asks for fresh metadata, and stops the retries of an
 * abandoned session.
 */
export class PartitionGuard {
  readonly #maxTries: number;
  readonly #tries = new Map<string, number>();
  #records = Number.POSITIVE_INFINITY;
  /** Records that passed in the present try; kafkajs asks for all of them before it makes a request. */
  #passed = 0;
  /** A try of this send let all records pass, so some broker may have appended its share. */
  #mayBeWritten = false;
  abandoned = false;

  constructor(maxTries: number) {
    this.#maxTries = maxTries;
  }

  /** Begins a send of so many records. */
  begin(records: number): void {
    this.#records = records;
    this.#passed = 0;
    this.#mayBeWritten = false;
  }

  partitionOf({ topic, partitionMetadata, message }: PartitionerArgs): number {
    if (this.abandoned) throw new GivenUp('this producer was given up');
    const partition = message.partition ?? -1;
    if (partitionMetadata.some((known) => known.partitionId === partition)) {
      this.#passed += 1;
      if (this.#passed === this.#records) {
        this.#mayBeWritten = true;
        this.#passed = 0;
      }
      return partition;
    }
    this.#passed = 0;
    const key = placeKey({ topic, partition });
    const tries = (this.#tries.get(key) ?? 0) + 1;
    this.#tries.set(key, tries);
    if (tries < this.#maxTries) throw new MetadataStale(`${key} is not in the metadata yet`);
    this.#tries.delete(key);
    if (this.#mayBeWritten) throw new GivenUp(`${key} vanished between two tries`);
    throw new PartitionMissing(`${key} does not exist`);
  }
}

class KafkajsSession implements ProducerSession {
  readonly #producer: Producer;
  readonly #guard: PartitionGuard;
  #running: Promise<unknown> = Promise.resolve();

  constructor(producer: Producer, guard: PartitionGuard) {
    this.#producer = producer;
    this.#guard = guard;
  }

  async send(records: readonly OutgoingRecord[]): Promise<readonly (RecordPlace | null)[]> {
    this.#guard.begin(records.length);
    const sending = this.#producer.sendBatch({ acks: -1, topicMessages: byTopic(records) });
    this.#running = sending.catch(() => {});
    return placesOf(records, await sending);
  }

  abandon(): void {
    this.#guard.abandoned = true;
    void this.#disconnectTwice();
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }

  /** kafkajs connects again for the next retry, which the guard ends; the second call closes that connection. */
  async #disconnectTwice(): Promise<void> {
    await this.#producer.disconnect().catch(() => {});
    await this.#running;
    await this.#producer.disconnect().catch(() => {});
  }
}

function byTopic(records: readonly OutgoingRecord[]): TopicMessages[] {
  const topics = new Map<string, TopicMessages>();
  for (const { topic, partition, key, value } of records) {
    const group = topics.get(topic) ?? { topic, messages: [] };
    group.messages.push({ partition, key, value });
    topics.set(topic, group);
  }
  return [...topics.values()];
}
