import { noQuote } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { foldOrder, type OrderHistory, rowsByOrder } from '@pm/domain/orders/order-read';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { orderIdsPerRequestMax } from '@pm/schemas/http/private-reading';
import { parseOrderId } from '@pm/schemas/ids';
import type { StoredBooks } from '../books/stored-books.io.ts';
import type { CallerDirectory } from '../http/caller.io.ts';
import { type Caller, isOwn, provenCaller, unproven } from '../http/caller.io.ts';
import { readRoute } from '../http/read-route.io.ts';
import type { OwnRecords } from '../recent/own-reads.io.ts';
import { isScoring } from './open-orders.ts';

export interface ScoringParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes'>;
  readonly own: Pick<OwnRecords, 'orderEvents'>;
  readonly callers: CallerDirectory;
  nowMs(): number;
}

/** GET /order-scoring: whether an order of the caller earns rewards now (conventions.md 3.12). */
export function orderScoringRoute(parts: ScoringParts): HttpHandler {
  const route = { method: 'GET', path: '/order-scoring', family: 'clob' } as const;
  return readRoute(route, async ({ query, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    const given = query['order_id'];
    const id = typeof given === 'string' ? parseOrderId(given) : null;
    if (id === null) return refusals.invalidOrderId;
    const scoring = await scoringOf(parts, caller, [id]);
    return { scoring: scoring.get(id) ?? false };
  });
}

/** POST /orders-scoring: the same for 1 to 500 ids, as an object by id. */
export function ordersScoringRoute(parts: ScoringParts): HttpHandler {
  const route = { method: 'POST', path: '/orders-scoring', family: 'clob' } as const;
  return readRoute(route, async ({ body, raw }) => {
    const caller = provenCaller(parts.callers, raw);
    if (caller === null) return unproven(parts, raw);
    if (!Array.isArray(body)) return refusals.invalidPayload;
    if (body.length > orderIdsPerRequestMax) return refusals.payloadTooLarge;
    const ids = readIds(body);
    if (ids instanceof ReadRefusal) return ids;
    const scoring = await scoringOf(parts, caller, [...new Set(ids)]);
    return Object.fromEntries(ids.map((id) => [id, scoring.get(id) ?? false]));
  });
}

function readIds(body: readonly unknown[]): readonly string[] | ReadRefusal {
  const ids = body.map((given) => (typeof given === 'string' ? parseOrderId(given) : null));
  return ids.every((id) => id !== null) ? ids : refusals.invalidOrderId;
}

async function scoringOf(
  { catalog, books, own }: ScoringParts,
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlyMap<string, boolean>> {
  const rows = rowsByOrder(ids.length === 0 ? [] : await own.orderEvents(ids));
  const orders = ids.map((id) => {
    const history = foldOrder((rows.get(id) ?? []).filter((row) => isOwn(caller, row)));
    return { id, history, listing: listingOf(catalog, history) };
  });
  const listings = orders.flatMap(({ listing }) => listing ?? []);
  const quotes = listings.length === 0 ? new Map() : await books.quotes(listings);
  return new Map(
    orders.map(({ id, history, listing }) => {
      const quote = listing === undefined ? noQuote : (quotes.get(listing.token) ?? noQuote);
      return [id, isScoring(history, listing?.market, quote)];
    }),
  );
}

function listingOf(catalog: ScoringParts['catalog'], history: OrderHistory): Listing | undefined {
  if (history.kind !== 'accepted' || history.facts.status !== 'LIVE') return undefined;
  const market = catalog.market(history.order.market);
  return market === undefined ? undefined : catalog.listing(market.tokens[history.order.outcome]);
}
