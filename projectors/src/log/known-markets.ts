import { marketIdsOf } from '@pm/domain/catalog/market-ids';
import type { CatalogMarket } from '@pm/schemas';
import type { ListedMarket } from '../books/render.ts';

/** The fields of a catalog entry that views need. */
export interface KnownMarket extends ListedMarket {
  readonly partition: number;
  /** Payout of token 0, 1/10000 USDC; -1 before the resolution. */
  readonly payout0: number;
}

/** The markets of the catalog by number and by partition; the newest entry of a number counts. */
export class KnownMarkets {
  readonly #byNumber = new Map<number, KnownMarket>();
  readonly #byPartition = new Map<number, Map<number, KnownMarket>>();

  take(entry: CatalogMarket): void {
    const { market, partition, negRisk, payout0 } = entry;
    const { conditionId, tokens } = marketIdsOf(entry);
    const known = { market, partition, facts: { conditionId, tokens, negRisk }, payout0 };
    const before = this.#byNumber.get(market);
    if (before !== undefined) this.#byPartition.get(before.partition)?.delete(market);
    this.#byNumber.set(market, known);
    const siblings = this.#byPartition.get(partition) ?? new Map<number, KnownMarket>();
    this.#byPartition.set(partition, siblings.set(market, known));
  }

  get(market: number): KnownMarket | undefined {
    return this.#byNumber.get(market);
  }

  inPartition(partition: number): readonly KnownMarket[] {
    return [...(this.#byPartition.get(partition)?.values() ?? [])];
  }
}
