import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import type { PrivateReads } from '../door/ports.ts';
import { foldHoldings } from '../positions/holdings.ts';
import { readHoldings } from '../positions/read-holdings.io.ts';
import { mergePage, storedWindow } from '../recent/merge.ts';
import type { RecentLog } from '../recent/recent-log.ts';
import { newestCancelFirst, recentCancels } from './cancel-search.ts';
import { newestFirst, recentOpenOrders } from './open-orders.ts';
import type { OrderEventRow } from './order-read.ts';
import { readCancels, readMarketsOf } from './read-cancels.io.ts';
import { readOpenOrders } from './read-open-orders.io.ts';
import { readOrderEvents } from './read-order-events.io.ts';
import { readTrades } from './read-trades.io.ts';
import { isTradeAskedFor, newestTradeFirst } from './trade-search.ts';

export interface FreshTableOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly recent: RecentLog;
  /** Waits until everything that was in the log at the call is in `recent` or in the tables; false when that takes too long. */
  settle(): Promise<boolean>;
}

/**
 * What happened up to the call: the newest records from memory, everything before them from the tables. Memory is looked at
 * first and the tables are asked for what lies in front of its seams, so nothing is counted twice or falls in between; what
 * memory forgets meanwhile is in the tables by then.
 */
export function openFreshTables(options: FreshTableOptions): PrivateReads {
  const { clickhouse, recent } = options;
  return {
    async orderEvents(ids) {
      const isSettled = await options.settle();
      const { seams, rows } = recent.orders(ids);
      const unsettled = ids.filter((id) => !isWhole(rows, id));
      if (unsettled.length === 0) return rows;
      const stored = await readOrderEvents(clickhouse, unsettled, seams);
      const found = [...stored, ...rows];
      // "Unknown" would be a guess: the order may stand in what was not read yet.
      if (!isSettled && !knowsAll(found, ids)) throw new Fault('newest_records_behind', 'retry');
      return found;
    },
    async trades(search) {
      await options.settle();
      const { seams, rows } = recent.fillsOfKeys(search.keys);
      const found = rows.filter((row) => isTradeAskedFor(row, search));
      const page = { offset: search.query.offset, limit: search.limit };
      const window = storedWindow(page, found.length);
      const stored = await readTrades(clickhouse, search, { seams, ...window });
      return mergePage(found, stored, { ...page, from: window.from }, newestTradeFirst);
    },
    async openOrders(search) {
      await options.settle();
      const { seams, rows } = recent.ordersOfKeys(search.keys);
      const { opened, ended } = recentOpenOrders(rows, search);
      const count = search.offset + search.limit + ended.size;
      const stored = await readOpenOrders(clickhouse, search, { seams, count });
      const open = stored.filter(({ orderId }) => !ended.has(orderId));
      return mergePage(opened, open, { ...search, from: 0 }, newestFirst);
    },
    async cancels(search) {
      await options.settle();
      const { seams, rows } = recent.ordersOfKeys(search.keys);
      const found = [...recentCancels(rows, search)].sort(newestCancelFirst);
      const stored = await readCancels(clickhouse, search, seams);
      return mergePage(found, stored, { offset: 0, from: 0, ...search }, newestCancelFirst);
    },
    async marketsOf(wallets) {
      await options.settle();
      const newest = recent.holdings(wallets).rows.map(({ market }) => market);
      return [...new Set([...newest, ...(await readMarketsOf(clickhouse, wallets))])];
    },
    async holdings(asked) {
      await options.settle();
      const { rows } = recent.holdings(asked.wallets);
      const changes = rows.filter(({ market }) => asked.market === null || market === asked.market);
      const touched = [...new Set(changes.map(({ market }) => market))];
      const markets = asked.market === null ? null : [asked.market];
      const stored = await readHoldings(clickhouse, { ...asked, markets, touched });
      return foldHoldings(stored, changes);
    },
  };
}

function knowsAll(rows: readonly OrderEventRow[], ids: readonly string[]): boolean {
  const known = new Set(rows.map((row) => row.orderId));
  return ids.every((id) => known.has(id));
}

/**
 * A placement in memory has everything behind it in memory too, and its own fills beside it. Only why a rest ended at once may
 * depend on a delay before it.
 */
function isWhole(rows: readonly OrderEventRow[], id: string): boolean {
  const placed = rows.find((row) => row.orderId === id && row.kind === 'PLACED');
  return placed !== undefined && placed.status !== 'CANCELED';
}
