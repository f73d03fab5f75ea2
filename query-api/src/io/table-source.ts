import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Listing } from '../core/catalog.ts';
import type { PriceFacts } from '../core/history.ts';
import type { HistoryPlan } from '../core/history-plan.ts';
import type { TableReads } from '../routes/ports.ts';
import { readCandles } from './candle-source.ts';
import { readHolders } from './holder-source.ts';
import { readHoldings } from './holding-source.ts';
import { readPastBook } from './past-book-source.ts';
import { readPositions } from './position-source.ts';
import { readPrices } from './price-source.ts';
import { SharedReads } from './shared-reads.ts';

/** All reads of tables, each by one statement with bound parameters and bounded time and rows. */
export function openTables(clickhouse: Pick<ClickHouse, 'selectRows'>): TableReads {
  const prices = new SharedReads<readonly PriceFacts[]>();
  return {
    positions: (wallet, markets) => readPositions(clickhouse, { wallet, markets }),
    holders: (markets, bounds) => readHolders(clickhouse, markets, bounds),
    authorHoldings: (asked) => readHoldings(clickhouse, asked),
    // Charts of a busy market ask for the same at the same time.
    prices: (listings, plan) =>
      prices.read(nameOf(listings, plan), () => readPrices(clickhouse, listings, plan)),
    candles: (listing, plan) => readCandles(clickhouse, listing, plan),
    pastBook: (listing, moment, withOrders) =>
      readPastBook(clickhouse, { listing, moment, withOrders }),
  };
}

/** Both tokens of a market have the same facts. */
function nameOf(listings: readonly Listing[], { fromS, toS, stepS }: HistoryPlan): string {
  return [fromS, toS, stepS, ...listings.map(({ market }) => market.market)].join();
}
