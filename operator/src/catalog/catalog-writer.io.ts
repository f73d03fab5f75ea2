import type { CompactedTable } from '@pm/domain/commands/compacted-table.io';
import { Fault } from '@pm/kit/fault';
import type { LogProducer, OutgoingRecord } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { conditionIdFromBytes } from '@pm/schemas/ids';
import type { Route, Transfer } from '@pm/schemas/log/accounts';
import { type CatalogEntry, type CatalogMarket, catalogKey } from '@pm/schemas/log/catalog';

export interface CatalogWriterOptions {
  readonly producer: Pick<LogProducer, 'send'>;
  /** Where entries of the catalog go; they count here when they are durable. */
  readonly table: Pick<CompactedTable<CatalogEntry>, 'write'>;
  /** Names of the topics on the broker. */
  readonly topics: { readonly routing: string; readonly transfers: string };
  readonly codecs: {
    readonly routing: Pick<RecordCodec<Route>, 'encode'>;
    readonly transfers: Pick<RecordCodec<Transfer>, 'encode'>;
  };
}

/** Records of one send; with texts of 10 kB each they stay below the broker's limit of a batch. */
const recordsPerSend = 50;

/**
 * Writes the changes of operators: routing, catalog and transfers. Every method resolves when its records are durable.
 */
export class CatalogWriter {
  readonly #options: CatalogWriterOptions;

  constructor(options: CatalogWriterOptions) {
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

  /** Deletes the entry of a market that its book refused. */
  async deleteMarket(market: number): Promise<void> {
    const key = catalogKey({ kind: 'CatalogMarket', market });
    await this.#options.table.write([{ key, value: null }]);
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

/** Writes the parts in order, so that an entry comes after those that it refers to. */
async function inParts<T>(
  all: readonly T[],
  write: (part: readonly T[]) => Promise<void>,
): Promise<void> {
  for (let from = 0; from < all.length; from += recordsPerSend) {
    await write(all.slice(from, from + recordsPerSend));
  }
}
