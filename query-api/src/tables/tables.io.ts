import type { ClickHouse } from '@pm/kit/clickhouse';
import { readPastBook } from '../books/read-past-book.io.ts';
import type { TableReads } from '../door/ports.ts';
import type { PriceFacts } from '../history/history.ts';
import type { HistoryPlan } from '../history/history-plan.ts';
import { readCandles } from '../history/read-candles.io.ts';
import { readPrices } from '../history/read-prices.io.ts';
import type { Listing } from '../markets/market.ts';
import { readHolders } from '../positions/read-holders.io.ts';
import { readHoldings } from '../positions/read-holdings.io.ts';
import { readPositions } from '../positions/read-positions.io.ts';
import { SharedReads } from './shared-reads.io.ts';

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
