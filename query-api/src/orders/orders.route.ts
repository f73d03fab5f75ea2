import { claimsKey } from '@pm/domain/accounts/key-claim';
import type { Catalog } from '@pm/domain/markets/catalog';
import { requestedPlace } from '@pm/domain/markets/market-filter';
import {
  foldOrder,
  type OrderEventRow,
  orderAnswer,
  rowsByOrder,
} from '@pm/domain/orders/order-read';
import { cursorBehind, pageBehind } from '@pm/domain/reading/list-cursor';
import { emptyPage } from '@pm/domain/reading/paging';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { orderIdsPerRequestMax } from '@pm/schemas/http/private-reading';
import { parseOrderId } from '@pm/schemas/ids';
import type { CallerDirectory } from '../http/caller.io.ts';
import { type Caller, isOwn, provenCaller, unproven } from '../http/caller.io.ts';
import { type Answer, readRoute, StatusResponse } from '../http/read-route.io.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';
import {
  keyOfOpenOrder,
  type OpenOrderRow,
  openOrderResponse,
  ordersPageSize,
  readOrdersQuery,
} from './open-orders.ts';

export interface OrderParts {
  readonly catalog: Catalog;
  readonly own: Pick<OwnRecords, 'openOrders' | 'orderEvents'>;
  readonly callers: CallerDirectory;
  nowMs(): number;
}

/**
 * GET /data/order/:id: state of an order. Any client may read it without its owner; with signed headers a caller finds
 * only its own orders (conventions.md 3.12). An order that was refused at once was never one; its refusal code is in
 * the 404.
 */
export function dataOrderRoute(parts: OrderParts): HttpHandler {
  const route = { method: 'GET', path: '/data/order/:id', family: 'clob' } as const;
  return readRoute(route, async ({ params, raw }) => {
    const caller = claimsKey(raw.headers) ? provenCaller(parts.callers, raw) : undefined;
    if (caller === null) return unproven(parts, raw);
    const id = parseOrderId(params['id'] ?? '');
    if (id === null) return refusals.invalidOrderId;
    const rows = await parts.own.orderEvents([id]);
    if (caller !== undefined && !rows.some((row) => isOwn(caller, row))) {
      return refusals.orderNotFound;
    }
    return answerFor(parts, rows, caller !== undefined);
  });
}

function answerFor(
  { catalog }: OrderParts,
  rows: readonly OrderEventRow[],
  isOwner: boolean,
): Answer {
  const history = foldOrder(rows);
  switch (history.kind) {
    case 'accepted':
      return orderAnswer(catalog, history, isOwner);
    case 'refused':
      return new ReadRefusal(404, refusals.orderNotFound.text, {
        code: history.code,
        reason: 'refused',
      });
    case 'unknown':
      return refusals.orderNotFound;
  }
}

/**
 * GET /data/orders: open orders of the caller's keys from any of the caller's wallets, newest first (conventions.md
 * 3.12).
 */
export function dataOrdersRoute(parts: OrderParts): HttpHandler {
  const route = { method: 'GET', path: '/data/orders', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const requested = readOrdersQuery(query);
    if (requested instanceof ReadRefusal) return requested;
    const place = requestedPlace(parts.catalog, requested);
    const { orderId, start } = requested;
    if (start.isOver || place === null) return noOrders();
    const { wallets, keys } = caller;
    const limit = ordersPageSize + 1;
    const search = { wallets, keys, orderId, ...place, after: start.after, limit };
    const { rows, events, asOf } = await parts.own.openOrders(search);
    const cursorOf = (last: OpenOrderRow) => cursorBehind(start.digest, keyOfOpenOrder(last));
    const page = pageBehind(rows, ordersPageSize, cursorOf);
    const data = liveOrders(parts.catalog, page.data, events);
    return { ...page, data, count: data.length, as_of: asOf };
  });
}

const noOrders = () => ({ ...emptyPage(ordersPageSize), as_of: [] });

/** Orders in the order of their rows; one that has ended by its events is left out. */
function liveOrders(
  catalog: Catalog,
  listed: readonly OpenOrderRow[],
  events: readonly OrderEventRow[],
) {
  const rows = rowsByOrder(events);
  return listed.flatMap(({ orderId }) => {
    const history = foldOrder(rows.get(orderId) ?? []);
    if (history.kind !== 'accepted' || history.facts.status !== 'LIVE') return [];
    return [openOrderResponse(catalog, history)];
  });
}

/**
 * POST /data/orders: 1 to 500 orders of the caller by id, one entry each in the requested order, with a status of its
 * own (conventions.md 3.12).
 */
export function lookUpOrdersRoute(parts: OrderParts): HttpHandler {
  const route = { method: 'POST', path: '/data/orders', family: 'clob' } as const;
  return readRoute(route, async ({ body, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const ids = readIds(body);
    if (ids instanceof ReadRefusal) return ids;
    const known = [...new Set(ids.flatMap((id) => parseOrderId(id) ?? []))];
    const rows = rowsByOrder(known.length === 0 ? [] : await parts.own.orderEvents(known));
    const entries = ids.map((id) => {
      const parsed = parseOrderId(id);
      const found = parsed === null ? null : (rows.get(parsed) ?? []);
      return { order_id: id, ...entryFor(parts, caller, found) };
    });
    return new StatusResponse(207, entries);
  });
}

/** `rows` null for what is no order id. */
function entryFor({ catalog }: OrderParts, caller: Caller, rows: readonly OrderEventRow[] | null) {
  if (rows === null) return failed(refusals.invalidOrderId);
  const history = foldOrder(rows.filter((row) => isOwn(caller, row)));
  if (history.kind === 'refused') return { ...failed(refusals.orderNotFound), code: history.code };
  if (history.kind === 'unknown') return failed(refusals.orderNotFound);
  return { status: 200, order: orderAnswer(catalog, history, true).order };
}

function failed({ status, text }: ReadRefusal) {
  return { status, error: text };
}

function readIds(body: unknown): readonly string[] | ReadRefusal {
  if (!Array.isArray(body) || body.length === 0) return refusals.invalidPayload;
  if (body.length > orderIdsPerRequestMax) return refusals.payloadTooLarge;
  const ids = body.map(idOf);
  return ids.every((id) => id !== null) ? ids : refusals.invalidPayload;
}

/** Either spelling, or the bare id; texts of no order's length are cut, since they are sent back. */
function idOf(given: unknown): string | null {
  const item = typeof given === 'object' && given !== null ? given : {};
  const { orderId, orderID } = item as { orderId?: unknown; orderID?: unknown };
  const id = typeof given === 'string' ? given : (orderId ?? orderID);
  return typeof id === 'string' ? id.slice(0, shownIdMaxChars) : null;
}

const shownIdMaxChars = 80;

/** GET /data/pre-migration-orders: nothing was migrated to this exchange (conventions.md 3.12). */
export function preMigrationOrdersRoute({ callers, nowMs }: OrderParts): HttpHandler {
  const route = { method: 'GET', path: '/data/pre-migration-orders', family: 'clob' } as const;
  return readRoute(route, ({ query, raw }) => {
    if (provenCaller(callers, raw) === null) return unproven({ callers, nowMs }, raw);
    const requested = readOrdersQuery(query);
    return requested instanceof ReadRefusal ? requested : noOrders();
  });
}
