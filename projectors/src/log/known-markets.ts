import { marketIdsOf } from '@pm/domain/catalog/market-ids';
import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { ListedMarket } from '../books/render.ts';

/** The fields of a catalog entry that views need. */
export interface KnownMarket extends ListedMarket {
  readonly partition: number;
  /** Payout of token 0 that its book was asked for, 1/10000 USDC; -1 before. */
  readonly payout0: number;
}

/** The markets of the catalog by number and by partition; the newest entry of a number counts. */
export class KnownMarkets {
  readonly #byNumber = new Map<number, KnownMarket>();
  readonly #byPartition = new Map<number, Map<number, KnownMarket>>();

  get size(): number {
    return this.#byNumber.size;
  }

  take(entry: CatalogMarket): void {
    const { market, partition, negRisk } = entry;
    const { conditionId, tokens } = marketIdsOf(entry);
    // The payout that a book was asked for is that of its resolution; the catalog shows it after that.
    const payout0 = entry.payout0 < 0 ? entry.askedPayout0 : entry.payout0;
    const known = { market, partition, facts: { conditionId, tokens, negRisk }, payout0 };
    this.forget(market);
    this.#byNumber.set(market, known);
    const siblings = this.#byPartition.get(partition) ?? new Map<number, KnownMarket>();
    this.#byPartition.set(partition, siblings.set(market, known));
  }

  /** The entry was deleted: no book has the market. */
  forget(market: number): void {
    const before = this.#byNumber.get(market);
    if (before !== undefined) this.#byPartition.get(before.partition)?.delete(market);
    this.#byNumber.delete(market);
  }

  get(market: number): KnownMarket | undefined {
    return this.#byNumber.get(market);
  }

  inPartition(partition: number): readonly KnownMarket[] {
    return [...(this.#byPartition.get(partition)?.values() ?? [])];
  }
}
