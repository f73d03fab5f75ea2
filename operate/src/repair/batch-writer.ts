import { StackError } from '@pm/deploy/local/stack-error';
import type { LogProducer, OutgoingRecord } from '@pm/kit/kafka';

/** Bounds of one send. */
const recordsMax = 500;
const bytesMax = 512 * 1_024;

/** Appends records to one partition in few sends, and checks that nothing else writes it. */
export class BatchWriter {
  readonly #producer: Pick<LogProducer, 'send'>;
  readonly #place: { readonly topic: string; readonly partition: number };
  #batch: OutgoingRecord[] = [];
  #bytes = 0;
  #next = 0;

  constructor(
    producer: Pick<LogProducer, 'send'>,
    place: { readonly topic: string; readonly partition: number },
  ) {
    this.#producer = producer;
    this.#place = place;
  }

  /** Records that are durable; the partition was empty before. */
  get written(): number {
    return this.#next;
  }

  /** `timestampMs` is the time that the record is stored with; without one it is that of the append. */
  async push(value: Buffer, timestampMs?: number): Promise<void> {
    const time = timestampMs === undefined ? {} : { timestampMs };
    this.#batch.push({ ...this.#place, key: null, value, ...time });
    this.#bytes += value.length;
    if (this.#batch.length >= recordsMax || this.#bytes >= bytesMax) await this.flush();
  }

  async flush(): Promise<void> {
    const batch = this.#batch;
    [this.#batch, this.#bytes] = [[], 0];
    if (batch.length === 0) return;
    const [first] = await this.#producer.send(batch);
    if (first?.offset !== this.#next) {
      const { topic, partition } = this.#place;
      throw new StackError(
        'START_FAILED',
        `${topic}/${partition} was written by another process at ${this.#next}. Stop all services and run the repair again.`,
      );
    }
    this.#next += batch.length;
  }
}
