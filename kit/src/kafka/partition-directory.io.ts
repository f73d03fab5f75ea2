import type { Admin } from 'kafkajs';
import { failureOf } from './kafkajs-errors.ts';
import type { OutgoingRecord } from './records.ts';
import { placeKey } from './send-queue.ts';
import { pause } from './waiting.io.ts';

/**
 * The existing partitions, loaded from the broker before the first record is sent to one. Without it an unknown topic
 * would delay every other record of the producer for as long as kafkajs retries.
 */
export class PartitionDirectory {
  readonly #admin: Admin;
  readonly #maxTries: number;
  readonly #waitMs: number;
  readonly #known = new Set<string>();

  constructor(admin: Admin, options: { maxTries: number; waitMs: number }) {
    this.#admin = admin;
    this.#maxTries = options.maxTries;
    this.#waitMs = options.waitMs;
  }

  isKnown(record: OutgoingRecord): boolean {
    return this.#known.has(placeKey(record));
  }

  /** Asks for all topics of these records until each partition is known or the tries are used up. */
  async learn(records: readonly OutgoingRecord[]): Promise<void> {
    for (let tried = 0; tried < this.#maxTries; tried += 1) {
      const unknown = records.filter((record) => !this.isKnown(record));
      if (unknown.length === 0) return;
      if (tried > 0) await pause(this.#waitMs * 2 ** tried);
      for (const topic of new Set(unknown.map((record) => record.topic))) await this.#ask(topic);
    }
  }

  async #ask(topic: string): Promise<void> {
    try {
      const { topics } = await this.#admin.fetchTopicMetadata({ topics: [topic] });
      for (const { partitions } of topics)
        for (const { partitionId } of partitions)
          this.#known.add(placeKey({ topic, partition: partitionId }));
    } catch (error) {
      if (failureOf(error).type !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error;
    }
  }
}
