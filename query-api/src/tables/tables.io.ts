import type { Listing, Market } from '@pm/domain/markets/market';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Moment, PastBook } from '../books/past-book.ts';
import { readPastBook } from '../books/read-past-book.io.ts';
import type { CandlePlan, CandleRow } from '../history/candles.ts';
import type { PriceFacts } from '../history/history.ts';
import type { HistoryPlan } from '../history/history-plan.ts';
import { KeptPrices } from '../history/kept-prices.io.ts';
import { readCandles } from '../history/read-candles.io.ts';
import type { HolderRow } from '../positions/holders.ts';
import type { Holding } from '../positions/holdings.ts';
import { KeptHolders } from '../positions/kept-holders.io.ts';
import { readHoldings } from '../positions/read-holdings.io.ts';
import type { RequestedHoldings } from '../social/author-holdings.ts';
import { type TablesState, unknownState } from './tables-state.ts';

/**
 * Reads of tables, each by one statement with bound parameters and bounded time and rows. Methods throw the faults of
 * ClickHouse (`retry` when it is away).
 */
export class TableReads {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #prices: KeptPrices;
  readonly #holders: KeptHolders;

  /** Without `state` nothing is kept: every read is a statement. */
  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, state: TablesState = unknownState) {
    this.#clickhouse = clickhouse;
    this.#prices = new KeptPrices(clickhouse, state);
    this.#holders = new KeptHolders(clickhouse, state);
  }

  /** Kept for the state of the tables; a value when it is at hand. */
  holders(
    markets: readonly Market[],
    bounds: { readonly limit: number; readonly minBalanceMicro: number },
  ): readonly HolderRow[] | Promise<readonly HolderRow[]> {
    return this.#holders.of(markets, bounds);
  }

  /** Holdings of some wallets in some markets. */
  authorHoldings(requested: RequestedHoldings): Promise<readonly Holding[]> {
    return readHoldings(this.#clickhouse, requested);
  }

  /**
   * One entry per listing, in order; kept for the state of the tables, a value when all of them are at hand. Charts of
   * a busy market request the same at the same time.
   */
  prices(
    listings: readonly Listing[],
    plan: HistoryPlan,
  ): readonly PriceFacts[] | Promise<readonly PriceFacts[]> {
    return this.#prices.of(listings, plan);
  }

  /** Oldest first. */
  candles(listing: Listing, plan: CandlePlan): Promise<readonly CandleRow[]> {
    return readCandles(this.#clickhouse, listing, plan);
  }

  /** Null when the market was not listed yet; throws a `Fault` (retry) while the moment is not wholly stored. */
  pastBook(listing: Listing, moment: Moment, withOrders: boolean): Promise<PastBook | null> {
    return readPastBook(this.#clickhouse, { listing, moment, withOrders });
  }
}
