import { microPerPrice, midpointMicro, type Quote } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import {
  type AcceptedOrder,
  type OrderEventRow,
  type OrderHistory,
  orderAnswer,
  type StatedRow,
} from '@pm/domain/orders/order-read';
import { isCount, isOffset, type PageStart, readPageStart } from '@pm/domain/reading/list-cursor';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { OpenOrder } from '@pm/schemas/http/private-reading';
import { type AskedAsset, parseAsset, parseConditionId, parseOrderId } from '@pm/schemas/ids';

/** Orders of a page. */
export const ordersPageSize = 100;

export interface OrdersQuery {
  readonly orderId: string | null;
  readonly condition: string | null;
  readonly asset: AskedAsset | null;
  readonly start: PageStart<OpenOrderRow>;
}

const textMaxChars = 80;

/** The parameters of GET /data/orders, or why not. Nothing of an unknown parameter (conventions.md 1.2). */
export function readOrdersQuery(query: RawQuery): OrdersQuery | ReadRefusal {
  const read = new QueryReader(query, 'clob');
  const parsed = <T>(name: string, parse: (text: string) => T | null): T | null => {
    const text = read.text(name, textMaxChars);
    return text === null ? null : (parse(text) ?? read.fail(refusals.invalidOrderParams.text));
  };
  const found = {
    orderId: parsed('id', parseOrderId),
    condition: parsed('market', parseConditionId),
    asset: parsed('asset_id', parseAsset),
  };
  if (read.refusal !== null) return refusals.invalidOrderParams;
  const start = readPageStart(read, 'open-orders', rowOfKey);
  return start === null ? refusals.invalidCursor : { ...found, start };
}

/** An order that rests, as far as its place in a list goes. */
export interface OpenOrderRow {
  readonly orderId: string;
  readonly placedAtMs: number;
  readonly partition: number;
  /** Input offset of its placement. */
  readonly inOffset: string;
}

/** Sort key of a row in the list of open orders; none of its fields changes while the order rests. */
export function keyOfOpenOrder(row: OpenOrderRow): readonly (string | number)[] {
  return [row.placedAtMs, row.partition, row.inOffset, row.orderId];
}

function rowOfKey(key: readonly unknown[]): OpenOrderRow | null {
  const [placedAtMs, partition, inOffset, id] = key;
  const orderId = typeof id === 'string' ? parseOrderId(id) : null;
  if (!isCount(placedAtMs) || !isCount(partition) || !isOffset(inOffset)) return null;
  return orderId === null ? null : { orderId, placedAtMs, partition, inOffset };
}

/** Requested open orders, with ids resolved. */
export interface OpenOrderSearch {
  readonly wallets: readonly string[];
  readonly keys: ReadonlySet<string>;
  /** Null: any. */
  readonly orderId: string | null;
  readonly market: number | null;
  readonly outcome: number | null;
  /** Only what follows this one in the list; null: from the newest on. */
  readonly after: OpenOrderRow | null;
  readonly limit: number;
}

/** Open orders by the recent rows: those that came to rest and still do, and those that have ended. */
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
    .filter((row) => row.kind === 'PLACED')
    .filter((row) => row.restingMicro > 0 && !ended.has(row.orderId))
    .filter((row) => wallets.has(row.wallet) && isRequested(row, search))
    .map(({ orderId, timeMs: placedAtMs, partition, inOffset }) => ({
      orderId,
      placedAtMs,
      partition,
      inOffset,
    }))
    .filter((row) => follows(row, search.after));
  return { opened: opened.sort(newestFirst), ended };
}

/** Whether a row stands behind another one in GET /data/orders: the rule that the SQL of stored orders follows too. */
export function follows(row: OpenOrderRow, after: OpenOrderRow | null): boolean {
  return after === null || newestFirst(after, row) < 0;
}

function endsOrder(row: OrderEventRow): boolean {
  if (row.kind === 'CANCELED') return true;
  return row.kind === 'FILLED' && row.role === 'MAKER' && row.restingMicro === 0;
}

function isRequested(row: StatedRow, { orderId, market, outcome }: OpenOrderSearch): boolean {
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
    compareText(right.orderId, left.orderId)
  );
}

function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** A row of the list of open orders: flat, with the keys of both spellings (conventions.md 3.12). */
export function openOrderResponse(catalog: Catalog, order: AcceptedOrder): OpenOrder {
  const {
    order: wrapped,
    reason: _reason,
    code: _code,
    ended_at: _endedAt,
    ...flat
  } = orderAnswer(catalog, order, true);
  const { makerAddress, assetId, originalSize, sizeMatched, associateTrades, createdAt } = wrapped;
  const camel = { makerAddress, assetId, originalSize, sizeMatched, associateTrades, createdAt };
  return { ...flat, owner: order.order.apiKey, ...camel };
}

/**
 * Whether an order earns liquidity rewards now: its market has them, it rests with at least their smallest size, and no
 * farther from the midpoint of its token than they allow (conventions.md 3.12). Without a midpoint nothing does.
 */
export function isScoring(
  history: OrderHistory,
  market: Market | undefined,
  quote: Quote,
): boolean {
  if (history.kind !== 'accepted' || history.facts.status !== 'LIVE') return false;
  if (market === undefined || market.rewardsDailyMicro === 0 || market.mode !== 'OPEN')
    return false;
  const { order, facts } = history;
  if (order.sizeMicro - facts.filledMicro < market.rewardsMinSizeMicro) return false;
  const midpoint = midpointMicro(quote);
  if (midpoint === null) return false;
  const distanceMicro = Math.abs(order.price * microPerPrice - midpoint);
  return distanceMicro <= market.rewardsMaxSpread * microPerPrice;
}
