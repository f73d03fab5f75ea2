import type { OrderEventRow } from './order-read.ts';

/** An order that rests, as far as its place in a list goes. */
export interface OpenOrderRow {
  readonly orderId: string;
  readonly placedAtMs: number;
  readonly partition: number;
  /** Input offset of its placement. */
  readonly inOffset: string;
}

/** Which open orders are asked for, with ids resolved. */
export interface OpenOrderSearch {
  readonly wallets: readonly string[];
  readonly keys: ReadonlySet<string>;
  /** Null: any. */
  readonly orderId: string | null;
  readonly market: number | null;
  readonly outcome: number | null;
  readonly offset: number;
  readonly limit: number;
}

/** What recent rows say of open orders: those that came to rest and still do, and those that have ended. */
export interface RecentOpenOrders {
  readonly opened: readonly OpenOrderRow[];
  readonly ended: ReadonlySet<string>;
}

/** Picks out of the rows of the caller's keys what concerns the search. */
export function recentOpenOrders(
  rows: readonly OrderEventRow[],
  search: OpenOrderSearch,
): RecentOpenOrders {
  const ended = new Set(rows.filter(endsOrder).map((row) => row.orderId));
  const wallets = new Set(search.wallets);
  const opened = rows
    .filter((row) => row.kind === 'PLACED' && row.restingMicro > 0 && !ended.has(row.orderId))
    .filter((row) => wallets.has(row.wallet) && isAskedFor(row, search))
    .map(({ orderId, timeMs: placedAtMs, partition, inOffset }) => ({
      orderId,
      placedAtMs,
      partition,
      inOffset,
    }));
  return { opened: opened.sort(newestFirst), ended };
}

function endsOrder(row: OrderEventRow): boolean {
  if (row.kind === 'CANCELED') return true;
  return row.kind === 'FILLED' && row.role === 'MAKER' && row.restingMicro === 0;
}

function isAskedFor(row: OrderEventRow, { orderId, market, outcome }: OpenOrderSearch): boolean {
  if (orderId !== null && row.orderId !== orderId) return false;
  if (market !== null && row.market !== market) return false;
  return outcome === null || row.outcome === outcome;
}

/** The order of GET /data/orders: newest placement first, ties by place in the log and id. */
export function newestFirst(left: OpenOrderRow, right: OpenOrderRow): number {
  return (
    right.placedAtMs - left.placedAtMs ||
    right.partition - left.partition ||
    Number(right.inOffset) - Number(left.inOffset) ||
    (left.orderId < right.orderId ? -1 : 1)
  );
}
