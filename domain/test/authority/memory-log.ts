import type { IncomingRecord, LogClient, OutgoingRecord, ReaderOptions } from '@pm/kit/kafka';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';

/** A log of partitions 0 in memory: readers get what is there at once and what comes later with it. */
export class MemoryLog implements LogClient {
  readonly #topics = new Map<string, IncomingRecord[]>();
  readonly #readers: (ReaderOptions & { next: number })[] = [];
  #delivered: Promise<void> = Promise.resolve();

  records(topic: string): readonly IncomingRecord[] {
    return this.#topics.get(topic) ?? [];
  }

  /** Appends without any check. */
  async append({ topic, key, value, headers }: OutgoingRecord): Promise<number> {
    const records = this.#topics.get(topic) ?? [];
    this.#topics.set(topic, records);
    const offset = records.length;
    const record = { offset, key, value, timestampMs: 0 };
    records.push(headers === undefined ? record : { ...record, headers });
    await this.#deliver();
    return offset;
  }

  async producer() {
    return {
      send: async (records: readonly OutgoingRecord[]) => {
        const places: { partition: number; offset: number }[] = [];
        for (const record of records)
          places.push({ partition: 0, offset: await this.append(record) });
        return places;
      },
      queuedRecords: 0,
      close: async () => {},
    };
  }

  async reader(options: ReaderOptions) {
    const reader = { ...options, next: options.positions.get(0) ?? 0 };
    this.#readers.push(reader);
    await this.#deliver();
    return {
      position: () => reader.next,
      lagRecords: () => this.records(options.topic).length - reader.next,
      ...loneReader,
      close: async () => {},
    };
  }

  group(): never {
    throw new Error('no groups');
  }

  async admin() {
    const bounds = async (topic: string) =>
      new Map([[0, { low: 0, high: this.records(topic).length }]]);
    return { bounds, close: async () => {} } as unknown as Awaited<ReturnType<LogClient['admin']>>;
  }

  async close(): Promise<void> {}

  #deliver(): Promise<void> {
    this.#delivered = this.#delivered.then(async () => {
      for (const reader of this.#readers) {
        const { topic } = reader;
        const records = this.records(topic).slice(reader.next);
        if (records.length === 0) continue;
        const highWatermark = this.records(topic).length;
        await reader.onBatch({ topic, partition: 0, records, highWatermark });
        reader.next = highWatermark;
      }
    });
    return this.#delivered;
  }
}
