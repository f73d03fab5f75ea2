import { pricedBy } from '../books/tokens.ts';
import { noPrices, priceBefore } from '../history/history.ts';
import type { Market } from '../markets/market.ts';
import type { TableReads } from '../tables/tables.io.ts';
import { dayOldPlan } from './rewards.ts';

/**
 * Prices of markets a day ago, null where there was none. Each market is read once a minute, since the plan is
 * aligned to minutes; memory is bounded by the markets that have rewards.
 */
export class DayOldPrices {
  readonly #tables: Pick<TableReads, 'prices'>;
  readonly #nowMs: () => number;
  readonly #prices = new Map<number, number | null>();
  #fromS = -1;

  constructor(tables: Pick<TableReads, 'prices'>, nowMs: () => number) {
    this.#tables = tables;
    this.#nowMs = nowMs;
  }

  /** By market number. Throws the faults of ClickHouse. */
  async of(markets: readonly Market[]): Promise<ReadonlyMap<number, number | null>> {
    const plan = dayOldPlan(this.#nowMs());
    if (plan.fromS !== this.#fromS) this.#prices.clear();
    this.#fromS = plan.fromS;
    const prices = new Map(this.#prices);
    const missing = pricedBy(markets.filter(({ market }) => !prices.has(market)));
    const facts = missing.length === 0 ? [] : await this.#tables.prices(missing, plan);
    for (const [index, { market }] of missing.entries()) {
      const price = priceBefore(facts[index] ?? noPrices);
      prices.set(market.market, price);
      // Another request may have begun the next minute.
      if (plan.fromS === this.#fromS) this.#prices.set(market.market, price);
    }
    return prices;
  }
}
