import type { ClickHouse } from '@pm/kit/clickhouse';
import type { TableReads } from '../routes/ports.ts';
import { readCandles } from './candle-source.ts';
import { readHolders } from './holder-source.ts';
import { readHoldings } from './holding-source.ts';
import { readPastBook } from './past-book-source.ts';
import { readPositions } from './position-source.ts';
import { readPrices } from './price-source.ts';
import { openVolumes } from './volume-source.ts';

/** All reads of tables, each by one statement with bound parameters and bounded time and rows. */
export function openTables(clickhouse: Pick<ClickHouse, 'selectRows'>): TableReads {
  return {
    positions: (wallet, markets) => readPositions(clickhouse, { wallet, markets }),
    holders: (markets, bounds) => readHolders(clickhouse, markets, bounds),
    authorHoldings: (asked) => readHoldings(clickhouse, asked),
    prices: (listings, plan) => readPrices(clickhouse, listings, plan),
    candles: (listing, plan) => readCandles(clickhouse, listing, plan),
    pastBook: (listing, moment, withOrders) =>
      readPastBook(clickhouse, { listing, moment, withOrders }),
    volumes: openVolumes(clickhouse),
  };
}
