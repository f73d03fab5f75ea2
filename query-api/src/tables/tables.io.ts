import type { ClickHouse } from '@pm/kit/clickhouse';
import type { WalletAddress } from '@pm/schemas';
import type { Moment, PastBook } from '../books/past-book.ts';
import { readPastBook } from '../books/read-past-book.io.ts';
import type { CandlePlan, CandleRow } from '../history/candles.ts';
import type { PriceFacts } from '../history/history.ts';
import type { HistoryPlan } from '../history/history-plan.ts';
import { readCandles } from '../history/read-candles.io.ts';
import { readPrices } from '../history/read-prices.io.ts';
import type { Listing, Market } from '../markets/market.ts';
import type { HolderRow } from '../positions/holders.ts';
import type { Holding } from '../positions/holdings.ts';
import type { HeldRow } from '../positions/positions.ts';
import { readHolders } from '../positions/read-holders.io.ts';
import { readHoldings } from '../positions/read-holdings.io.ts';
import { readPositions } from '../positions/read-positions.io.ts';
import type { RequestedHoldings } from '../social/author-holdings.ts';
import { SharedReads } from './shared-reads.io.ts';

/**
 * Reads of tables, each by one statement with bound parameters and bounded time and rows. Methods throw the faults of
 * ClickHouse (`retry` when it is away).
 */
export class TableReads {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #prices = new SharedReads<readonly PriceFacts[]>();

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>) {
    this.#clickhouse = clickhouse;
  }

  /** Null for `markets`: all. */
  positions(wallet: WalletAddress, markets: readonly number[] | null): Promise<readonly HeldRow[]> {
    return readPositions(this.#clickhouse, { wallet, markets });
  }

  holders(
    markets: readonly Market[],
    bounds: { readonly limit: number; readonly minBalanceMicro: number },
  ): Promise<readonly HolderRow[]> {
    return readHolders(this.#clickhouse, markets, bounds);
  }

  /** Holdings of some wallets in some markets. */
  authorHoldings(requested: RequestedHoldings): Promise<readonly Holding[]> {
    return readHoldings(this.#clickhouse, requested);
  }

  /** One entry per listing, in order. Charts of a busy market request the same at the same time. */
  prices(listings: readonly Listing[], plan: HistoryPlan): Promise<readonly PriceFacts[]> {
    const read = () => readPrices(this.#clickhouse, listings, plan);
    return this.#prices.read(nameOf(listings, plan), read);
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

/** Both tokens of a market have the same facts. */
function nameOf(listings: readonly Listing[], { fromS, toS, stepS }: HistoryPlan): string {
  return [fromS, toS, stepS, ...listings.map(({ market }) => market.market)].join();
}
