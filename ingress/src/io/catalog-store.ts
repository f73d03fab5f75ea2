import { Fault } from '@pm/kit/fault';
import type { LogProducer, OutgoingRecord } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import {
  type CatalogEntry,
  type CatalogMarket,
  catalogKey,
  conditionIdFromBytes,
  type Route,
  type Transfer,
} from '@pm/schemas';

export interface CatalogStoreOptions {
  readonly producer: Pick<LogProducer, 'send'>;
  /** Names of the topics on the broker. */
  readonly topics: {
    readonly catalog: string;
    readonly routing: string;
    readonly transfers: string;
  };
  readonly codecs: {
    readonly catalog: Pick<RecordCodec<CatalogEntry>, 'encode'>;
    readonly routing: Pick<RecordCodec<Route>, 'encode'>;
    readonly transfers: Pick<RecordCodec<Transfer>, 'encode'>;
  };
  /** Told each entry once it is durable. */
  onWritten(entry: CatalogEntry): void;
}

/** Records of one send; with texts of 10 kB each they stay below the broker's limit of a batch. */
const recordsPerSend = 50;

/** Writes what an operator says: routing, catalog and transfers. Everything resolves when it is durable. */
export class CatalogStore {
  readonly #options: CatalogStoreOptions;

  constructor(options: CatalogStoreOptions) {
    this.#options = options;
  }

  async writeRoutes(markets: readonly CatalogMarket[]): Promise<void> {
    const { topics, codecs } = this.#options;
    const records = markets.map(({ conditionId, market, partition, epoch }) => ({
      topic: topics.routing,
      partition: 0,
      key: Buffer.from(conditionIdFromBytes(conditionId), 'utf8'),
      value: codecs.routing.encode({ conditionId, market, partition, epoch }),
    }));
    await this.#send(records);
  }

  async writeEntries(entries: readonly CatalogEntry[]): Promise<void> {
    const { topics, codecs, onWritten } = this.#options;
    const records = entries.map((entry) => ({
      topic: topics.catalog,
      partition: 0,
      key: Buffer.from(catalogKey(entry), 'utf8'),
      value: codecs.catalog.encode(entry),
    }));
    await this.#send(records);
    for (const entry of entries) onWritten(entry);
  }

  async writeTransfers(transfers: readonly Transfer[]): Promise<void> {
    const { topics, codecs } = this.#options;
    const records = transfers.map((transfer) => ({
      topic: topics.transfers,
      partition: 0,
      key: transfer.wallet,
      value: codecs.transfers.encode(transfer),
    }));
    await this.#send(records);
  }

  /** One after the other, so that what refers to something comes behind it. */
  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    for (let from = 0; from < records.length; from += recordsPerSend) {
      const places = await this.#options.producer.send(records.slice(from, from + recordsPerSend));
      if (places.length === 0) throw new Fault('not_sent', 'retry');
    }
  }
}
