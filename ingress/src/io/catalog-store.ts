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
import type { TableStore } from './table-store.ts';

export interface CatalogStoreOptions {
  readonly producer: Pick<LogProducer, 'send'>;
  /** Where entries of the catalog go; they count here when they are durable. */
  readonly table: Pick<TableStore<CatalogEntry>, 'write'>;
  /** Names of the topics on the broker. */
  readonly topics: { readonly routing: string; readonly transfers: string };
  readonly codecs: {
    readonly routing: Pick<RecordCodec<Route>, 'encode'>;
    readonly transfers: Pick<RecordCodec<Transfer>, 'encode'>;
  };
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
    const values = entries.map((value) => ({ key: catalogKey(value), value }));
    await inParts(values, (part) => this.#options.table.write(part));
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

  async #send(records: readonly OutgoingRecord[]): Promise<void> {
    await inParts(records, async (part) => {
      const places = await this.#options.producer.send(part);
      if (places.length === 0) throw new Fault('not_sent', 'retry');
    });
  }
}

/** One after the other, so that what refers to something comes behind it. */
async function inParts<T>(
  all: readonly T[],
  write: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += recordsPerSend) {
    await write(all.slice(from, from + recordsPerSend));
  }
}
