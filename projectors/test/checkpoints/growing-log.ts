import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, LogClient, LogReader, ReaderOptions } from '@pm/kit/kafka';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';

const batchRecords = 7;

/** Topics in memory that grow, and whose first records retention removes; the part of the client that readers use. */
export class GrowingLog {
  readonly #topics = new Map<string, Map<number, IncomingRecord[]>>();
  readonly #lows = new Map<string, number>();

  add(topic: string, partition: number, records: readonly IncomingRecord[]): void {
    const partitions = this.#topics.get(topic) ?? new Map<number, IncomingRecord[]>();
    this.#topics.set(topic, partitions);
    partitions.set(partition, [...(partitions.get(partition) ?? []), ...records]);
  }

  removeBefore(topic: string, partition: number, low: number): void {
    this.#lows.set(`${topic}:${partition}`, low);
  }

  get client(): LogClient {
    const admin = async () => ({
      bounds: async (topic: string) => this.#bounds(topic),
      close: async () => {},
    });
    // Readers use no other part of it.
    return {
      admin,
      reader: async (options: ReaderOptions) => this.#reader(options),
    } as unknown as LogClient;
  }

  #bounds(topic: string) {
    const partitions = this.#topics.get(topic) ?? new Map<number, IncomingRecord[]>();
    return new Map(
      [...partitions].map(([partition, { length: high }]) => [
        partition,
        { low: this.#lows.get(`${topic}:${partition}`) ?? 0, high },
      ]),
    );
  }

  #reader(options: ReaderOptions): LogReader {
    const [[partition, from] = [0, 0]] = [...options.positions];
    let position = from;
    this.#deliver(options, partition, from, (to) => {
      position = to;
    }).catch((cause: unknown) =>
      options.onFault(
        cause instanceof Fault ? cause : new Fault('handler_failed', 'stop', { cause }),
      ),
    );
    return { position: () => position, lagRecords: () => 0, ...loneReader, close: async () => {} };
  }

  async #deliver(
    { topic, onBatch }: ReaderOptions,
    partition: number,
    from: number,
    onRead: (to: number) => void,
  ): Promise<void> {
    const records = this.#topics.get(topic)?.get(partition) ?? [];
    const low = this.#lows.get(`${topic}:${partition}`) ?? 0;
    await Promise.resolve();
    if (from < low) throw new Fault('offset_out_of_range', 'stop', { facts: { topic, from, low } });
    for (let at = from; at < records.length; at += batchRecords) {
      const some = records.slice(at, at + batchRecords);
      await onBatch({ topic, partition, records: some, highWatermark: records.length });
      onRead(at + some.length);
    }
  }
}
