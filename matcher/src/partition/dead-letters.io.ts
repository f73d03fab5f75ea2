import type { LogProducer, OutgoingRecord } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { type DeadLetter, deadLetterValueMaxBytes } from '@pm/schemas/log/accounts';
import { topics } from '@pm/schemas/log/topics';
import type { InputRecord } from './record-processor.ts';
import { type RetryRules, sendWithRetry } from './send-with-retry.io.ts';

interface DeadLettersParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly codec: Pick<RecordCodec<DeadLetter>, 'encode'>;
  /** Name of the dead-letter topic on the broker. */
  readonly topic: string;
  /** Name of the topic of the rejected records. */
  readonly ordersTopic: string;
  readonly retry: RetryRules;
}

/** An input that changed nothing. */
export interface Rejected {
  readonly record: InputRecord;
  readonly reason: string;
}

/** The dead letters have one partition. */
const deadLetterPartition = 0;

/** Bytes of one send: well below the topic's limit, so that a flood of long poison is stored in several sends. */
const sendBytesMax = topics.deadLetters.maxMessageBytes / 2;

/** Copies rejected records to the dead letters at least once: a copy may be there twice, and names its record. */
export class DeadLetters {
  readonly #parts: DeadLettersParts;

  constructor(parts: DeadLettersParts) {
    this.#parts = parts;
  }

  /** Resolves when they are durable. Throws the faults of `sendWithRetry`. */
  async send(partition: number, rejected: readonly Rejected[]): Promise<void> {
    let [records, bytes]: [OutgoingRecord[], number] = [[], 0];
    for (const one of rejected) {
      const record = this.#recordOf(partition, one);
      records.push(record);
      bytes += record.value.length;
      if (bytes < sendBytesMax) continue;
      await sendWithRetry(this.#parts.producer, records, this.#parts.retry);
      [records, bytes] = [[], 0];
    }
    if (records.length === 0) return;
    await sendWithRetry(this.#parts.producer, records, this.#parts.retry);
  }

  #recordOf(partition: number, { record, reason }: Rejected) {
    const { codec, topic, ordersTopic } = this.#parts;
    const value = codec.encode({
      topic: ordersTopic,
      partition,
      offset: record.offset,
      reader: 'matcher',
      reason,
      value: record.value?.subarray(0, deadLetterValueMaxBytes) ?? Buffer.alloc(0),
    });
    return { topic, partition: deadLetterPartition, key: null, value };
  }
}
