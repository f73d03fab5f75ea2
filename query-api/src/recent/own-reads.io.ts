import { type CancelRow, type CancelSearch, recentCancels } from '@pm/domain/orders/cancel-search';
import type { OrderEventRow } from '@pm/domain/orders/order-read';
import type { FillRow } from '@pm/domain/orders/trades';
import { newestPlaceFirst } from '@pm/domain/reading/merge-page';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import type { LogPosition } from '@pm/schemas/http/forms';
import type { WalletAddress } from '@pm/schemas/ids';
import {
  newestFirst,
  type OpenOrderRow,
  type OpenOrderSearch,
  recentOpenOrders,
} from '../orders/open-orders.ts';
import { readCancels, readMarketsOf } from '../orders/read-cancels.io.ts';
import { readOpenOrders } from '../orders/read-open-orders.io.ts';
import { readOrderEvents } from '../orders/read-order-events.io.ts';
import { readTrades } from '../orders/read-trades.io.ts';
import { isTradeRequested, type TradeSearch } from '../orders/trade-search.ts';
import { foldHoldings, type Holding } from '../positions/holdings.ts';
import { readHoldings } from '../positions/read-holdings.io.ts';
import type { RecentLog, RecentRows } from './recent-log.ts';

export interface OwnRecordsOptions {
  readonly clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly recent: RecentLog;
  /**
   * Waits until everything that was in the log at the call is in `recent` or in the tables; false when that takes too
   * long.
   */
  settle(): Promise<boolean>;
}

/**
 * Records of a caller up to the call: the newest from memory, everything before them from the tables. Memory is read
 * first, and the tables are read up to its cutover, so nothing is counted twice or missed; a record that memory forgets
 * meanwhile is in the tables by then. Methods throw the `Fault` `newest_records_behind` (retry) while the newest
 * records cannot be had, and the faults of ClickHouse (`retry` when it is away) as far as memory alone does not
 * suffice.
 */
export class OwnRecords {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #recent: RecentLog;
  readonly #settle: () => Promise<boolean>;

  constructor({ clickhouse, recent, settle }: OwnRecordsOptions) {
    this.#clickhouse = clickhouse;
    this.#recent = recent;
    this.#settle = settle;
  }

  /** Rows of these orders; of each order in any order, see `foldOrder`. */
  async orderEvents(ids: readonly string[]): Promise<readonly OrderEventRow[]> {
    await this.#settled();
    return await this.#eventsOf(ids, this.#recent.orders(ids));
  }

  async #eventsOf(
    ids: readonly string[],
    { cutover, rows }: RecentRows<OrderEventRow>,
  ): Promise<readonly OrderEventRow[]> {
    const partial = ids.filter((id) => !isWhole(rows, id));
    if (partial.length === 0) return rows;
    return [...(await readOrderEvents(this.#clickhouse, partial, cutover)), ...rows];
  }

  /** Newest first; one row more than a page says that there is another page. */
  async trades(search: TradeSearch): Promise<OwnList<FillRow>> {
    await this.#settled();
    const { cutover, rows, asOf } = this.#recent.fillsOfKeys(search.keys);
    const found = rows.filter((row) => isTradeRequested(row, search));
    const stored = await readTrades(this.#clickhouse, search, cutover);
    return { rows: firstOf([...found, ...stored], search, newestPlaceFirst), asOf };
  }

  /**
   * Newest first; one row more than a page says that there is another page. `events` say what became of them up to the
   * same place in the log. An order that ended behind that place may be missing already.
   */
  async openOrders(search: OpenOrderSearch): Promise<OwnOpenOrders> {
    await this.#settled();
    const recent = this.#recent.ordersOfKeys(search.keys);
    const { cutover, rows, asOf } = recent;
    const { opened, ended } = recentOpenOrders(rows, search);
    const count = search.limit + ended.size;
    const stored = await readOpenOrders(this.#clickhouse, search, { cutover, count });
    const open = stored.filter(({ orderId }) => !ended.has(orderId));
    const listed = firstOf([...opened, ...open], search, newestFirst);
    const ids = listed.map(({ orderId }) => orderId);
    return { rows: listed, events: await this.#eventsOf(ids, recent), asOf };
  }

  /** Newest first. */
  async cancels(search: CancelSearch): Promise<readonly CancelRow[]> {
    await this.#settled();
    const { cutover, rows } = this.#recent.ordersOfKeys(search.keys);
    const found = recentCancels(rows, search);
    const stored = await readCancels(this.#clickhouse, search, cutover);
    return firstOf([...found, ...stored], search, newestPlaceFirst);
  }

  /** Markets in which one of the wallets holds or held tokens. */
  async marketsOf(wallets: readonly WalletAddress[]): Promise<readonly number[]> {
    await this.#settled();
    const newest = this.#recent.holdings(wallets).rows.map(({ market }) => market);
    return [...new Set([...newest, ...(await readMarketsOf(this.#clickhouse, wallets))])];
  }

  /** Holdings of these wallets, in one market or in all (null). */
  async holdings(requested: RequestedMarket): Promise<readonly Holding[]> {
    await this.#settled();
    const { market: only, wallets } = requested;
    const { rows } = this.#recent.holdings(wallets);
    const changes = rows.filter(({ market }) => only === null || market === only);
    const touched = [...new Set(changes.map(({ market }) => market))];
    const markets = only === null ? null : [only];
    const stored = await readHoldings(this.#clickhouse, { wallets, markets, touched });
    return foldHoldings(stored, changes);
  }

  /** Without the newest records an answer might lack one that its caller knows of, and would not say so. */
  async #settled(): Promise<void> {
    if (!(await this.#settle())) throw new Fault('newest_records_behind', 'retry');
  }
}

/** A page of a list, and the place in the log of each partition that it is true for. */
export interface OwnList<T> {
  readonly rows: readonly T[];
  readonly asOf: readonly LogPosition[];
}

export interface OwnOpenOrders extends OwnList<OpenOrderRow> {
  readonly events: readonly OrderEventRow[];
}

function firstOf<T>(
  rows: readonly T[],
  { limit }: { readonly limit: number },
  compare: (left: T, right: T) => number,
): readonly T[] {
  return rows.toSorted(compare).slice(0, limit);
}

interface RequestedMarket {
  readonly wallets: readonly WalletAddress[];
  readonly market: number | null;
}

/**
 * A placement in memory has everything after it in memory too, and its own fills with it. Only why a rest ended at once
 * may depend on a delay before it.
 */
function isWhole(rows: readonly OrderEventRow[], id: string): boolean {
  return rows.some(
    (row) => row.orderId === id && row.kind === 'PLACED' && row.status !== 'CANCELED',
  );
}
