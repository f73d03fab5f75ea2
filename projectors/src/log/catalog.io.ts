import { setTimeout as wait } from 'node:timers/promises';
import { followTable } from '@pm/kit/compacted';
import { Fault } from '@pm/kit/fault';
import type { LogClient, LogReader } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import type { RecordReader } from '@pm/kit/registry';
import type { CatalogEntry } from '@pm/schemas/log/catalog';
import type { ListedMarket, MarketFacts } from '../books/render.ts';
import { MarketCategories } from '../views/leaderboard/categories.ts';
import { KnownMarkets } from './known-markets.ts';

/** How long a partition waits for a record that is in the catalog already, and how often it checks. */
const waitMs = 10_000;
const pollMs = 25;

export interface CatalogOptions {
  readonly client: LogClient;
  readonly codec: RecordReader<CatalogEntry>;
  /** Name of the topic on the broker. */
  readonly topic: string;
  readonly log: Log;
  fail(error: unknown): void;
}

/** The facts of markets that views need beyond the executions; folds the topic `catalog` into memory. */
export class Catalog {
  /** Categories of the leaderboards. */
  readonly categories = new MarketCategories();
  readonly #markets = new KnownMarkets();
  #reader: LogReader | null = null;

  private constructor() {}

  /** Resolves when all that is in the topic has been read. */
  static async open({ client, codec, topic, log, fail }: CatalogOptions): Promise<Catalog> {
    const catalog = new Catalog();
    // An entry that cannot be read must not stop all books: it is skipped, and only its market waits (`find`).
    catalog.#reader = await followTable(client, {
      topic,
      codec,
      log,
      take: (entry) => catalog.#take(entry),
      forget: (key) => catalog.#forget(key),
      onFault: fail,
    });
    return catalog;
  }

  get marketCount(): number {
    return this.#markets.size;
  }

  /** Null while the catalog does not show the market. */
  find(market: number): MarketFacts | null {
    return this.#markets.get(market)?.facts ?? null;
  }

  /**
   * Waits for the market to appear; rejects with the `Fault` `market_facts_missing` (retry) when it does not in time.
   */
  facts(market: number): Promise<MarketFacts> {
    return until(market, () => this.find(market));
  }

  /** Payout of token 0, 1/10000 USDC. Waits for the resolution to appear; the same fault. */
  payout0(market: number): Promise<number> {
    return until(market, () => {
      const payout0 = this.#markets.get(market)?.payout0 ?? -1;
      return payout0 < 0 ? null : payout0;
    });
  }

  /** The markets whose books belong to a partition, as far as the catalog has been read. */
  inPartition(partition: number): readonly ListedMarket[] {
    return this.#markets.inPartition(partition);
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }

  #take(entry: CatalogEntry): void {
    this.categories.apply(entry);
    if (entry.kind === 'CatalogMarket') this.#markets.take(entry);
  }

  #forget(key: string): void {
    const [kind, number] = key.split(':', 2);
    if (kind === 'CatalogMarket') this.#markets.forget(Number(number));
  }
}

async function until<T>(market: number, find: () => T | null): Promise<T> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const found = find();
    if (found !== null) return found;
    if (performance.now() > deadlineMs)
      throw new Fault('market_facts_missing', 'retry', { facts: { market } });
    await wait(pollMs);
  }
}
