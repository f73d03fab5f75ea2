import {
  type Canceler,
  type Cancellation,
  type CancelServices,
  cancelAll,
  cancelMarket,
  cancelOrders,
  type NamedCancelServices,
} from '@pm/domain/cancels/cancel-orders.io';
import { openSearches } from '@pm/domain/cancels/order-searches.io';
import type { CatalogIndex, ListedToken } from '@pm/domain/catalog/catalog-index';
import type { PayerFunds } from '@pm/domain/ratelimit/limit-requests.io';
import { checkerOf, invalidPayload } from '@pm/domain/requests/requests.io';
import { StageTimes } from '@pm/domain/requests/stage-times.io';
import type { Clock } from '@pm/kit/clock';
import { type HttpHandler, parseListParam, refuse } from '@pm/kit/http';
import {
  CancelMarketBody,
  CancelOrderBody,
  type CancelResult,
  cancelsPerRequestMax,
} from '@pm/schemas/http/trading';
import {
  type AskedAsset,
  type ConditionId,
  type OrderId,
  parseAsset,
  parseConditionId,
  parseOrderId,
  type WalletAddress,
} from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NewMarkets } from '../catalog/new-markets.io.ts';
import type { Authentication } from '../http/authentication.io.ts';
import { authenticate } from '../http/authentication.io.ts';

/** Dependencies of the routes that cancel. */
export interface CancelRouteServices extends CancelServices {
  readonly authentication: Authentication;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly markets: Pick<CatalogIndex, 'findToken' | 'findCondition'>;
  readonly newMarkets: NewMarkets;
  readonly funds: Pick<PayerFunds, 'isKnownUnfunded'>;
}

/** Dependencies of the routes that cancel named orders, with the slots of orders that every partition is asked for. */
type NamedCancelRouteServices = CancelRouteServices & NamedCancelServices;

/** The routes that cancel orders. */
export function cancelRoutes(services: CancelRouteServices): readonly HttpHandler[] {
  const { funded, unfunded } = openSearches();
  const searchesOf = (wallet: WalletAddress) =>
    services.funds.isKnownUnfunded(wallet) ? unfunded : funded;
  const named = { ...services, searchesOf };
  return [
    deleteOrderRoute(named, checkerOf(CancelOrderBody)),
    deleteOrdersRoute(named),
    cancelAllRoute(services),
    cancelMarketOrdersRoute(services, checkerOf(CancelMarketBody)),
  ];
}

/** One route that cancels. */
interface CancelRoute {
  readonly path: '/order' | '/orders' | '/cancel-all' | '/cancel-market-orders';
  /** The facts that texts of its refusals name. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** The cancel that a request asks for, or the refusal of the request. */
  read(request: FastifyRequest): AskedCancel | Promise<AskedCancel>;
}

type AskedCancel = RefusalCode | ((canceler: Canceler) => Promise<Cancellation>);

/** The frame of every DELETE of orders: authenticates, reads the request, cancels and responds with the times. */
function cancelRoute(services: CancelRouteServices, route: CancelRoute): HttpHandler {
  const { path, facts } = route;
  return {
    method: 'DELETE',
    path,
    add(app, { url }) {
      const options = { config: { invalid: invalidPayload } };
      app.delete(url, options, async (request, reply) => {
        const times = new StageTimes(services.clock);
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        times.mark('auth');
        const cancel = await route.read(request);
        if (typeof cancel === 'string') return refuse(reply, cancel, facts);
        return answerCancel(await cancel({ caller, times }), { reply, times });
      });
    },
  };
}

/**
 * The orders that were canceled and those that were not; when the request failed, known cancels stand beside the error
 * (conventions.md 3.12).
 */
function answerCancel(
  { result, failure }: Cancellation,
  { reply, times }: { readonly reply: FastifyReply; readonly times: StageTimes },
): CancelResult | FastifyReply {
  times.writeTo(reply);
  if (failure === null) return result;
  return refuse(reply, failure, {}, { body: { ...result } });
}

/** DELETE /order: one order of the caller, in either spelling of the id (conventions.md 3.12). */
function deleteOrderRoute(
  services: NamedCancelRouteServices,
  isBody: (value: unknown) => value is CancelOrderBody,
): HttpHandler {
  return cancelRoute(services, {
    path: '/order',
    read({ body, query }) {
      const orderId = readOrderId(body ?? query, isBody);
      if (orderId === 'malformed') return 'invalid_payload';
      if (orderId === null) return 'invalid_order_id';
      return (canceler) => cancelOrders([orderId], canceler, services);
    },
  });
}

/** The id in the body; null when it is none, `malformed` when there is no object to hold it. */
function readOrderId(
  body: unknown,
  isBody: (value: unknown) => value is CancelOrderBody,
): OrderId | null | 'malformed' {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'malformed';
  return isBody(body) ? parseOrderId(body.orderID ?? body.orderId ?? '') : null;
}

type IdsRefusal = 'invalid_payload' | 'invalid_order_id' | 'too_many_cancels';

/**
 * DELETE /orders: up to `cancelsPerRequestMax` orders of the caller, a JSON array of ids; the same id twice counts
 * once. A body that was lost on the way may come in the query as `orderIDs` (conventions.md 3.12).
 */
function deleteOrdersRoute(services: NamedCancelRouteServices): HttpHandler {
  return cancelRoute(services, {
    path: '/orders',
    facts: { max: cancelsPerRequestMax },
    read({ body, query }) {
      const ids = readIds(body ?? idsInQuery(query));
      if (typeof ids === 'string') return ids;
      return (canceler) => cancelOrders([...ids], canceler, services);
    },
  });
}

function idsInQuery(query: unknown): readonly string[] | null {
  const { orderIDs } = query as { readonly orderIDs?: string | readonly string[] };
  return parseListParam(orderIDs, { maxItems: cancelsPerRequestMax }) ?? null;
}

function readIds(body: unknown): ReadonlySet<OrderId> | IdsRefusal {
  if (!Array.isArray(body) || body.length === 0) return 'invalid_payload';
  if (body.length > cancelsPerRequestMax) return 'too_many_cancels';
  const ids = new Set<OrderId>();
  for (const item of body as readonly unknown[]) {
    const id = typeof item === 'string' ? parseOrderId(item) : null;
    if (id === null) return 'invalid_order_id';
    ids.add(id);
  }
  return ids;
}

/**
 * DELETE /cancel-all: every order of the caller in every market. Orders of the caller that arrived before it and are
 * still on their way are refused as `fenced`; those that arrive later are not touched. A body is ignored
 * (conventions.md 3.12).
 */
function cancelAllRoute(services: CancelRouteServices): HttpHandler {
  return cancelRoute(services, {
    path: '/cancel-all',
    read: () => (canceler) => cancelAll(canceler, services),
  });
}

const nothing: Cancellation = { result: { canceled: [], not_canceled: {} }, failure: null };

/**
 * DELETE /cancel-market-orders: all orders of the caller in a market or of a token. The filter comes in the body, or in
 * the query when the body was lost on the way; the key that is not used may be an empty text (conventions.md 3.12).
 */
function cancelMarketOrdersRoute(
  services: CancelRouteServices,
  isBody: (value: unknown) => value is CancelMarketBody,
): HttpHandler {
  return cancelRoute(services, {
    path: '/cancel-market-orders',
    async read({ body, query }) {
      const asked: unknown = body ?? query;
      const { markets, newMarkets } = services;
      const read = () => (isBody(asked) ? readFilter(asked, markets) : 'invalid_payload');
      // Where the newest markets cannot be read, it is not known whether nothing rests there.
      const filter = read() ?? ((await newMarkets.settle()) ? read() : 'cancel_unconfirmed');
      if (typeof filter === 'string') return filter;
      return (canceler) => cancelFiltered(filter, canceler, services);
    },
  });
}

async function cancelFiltered(
  filter: Filter | null,
  canceler: Canceler,
  services: CancelRouteServices,
): Promise<Cancellation> {
  return filter === null ? nothing : await cancelMarket(filter, canceler, services);
}

type FilterRefusal = 'no_cancel_filter' | 'invalid_payload' | 'condition_mismatch';
type Filter = { readonly token: ListedToken; readonly outcome: number };

/** The market and token meant; null when nothing of that name is listed, so that nothing can rest there. */
function readFilter(
  body: CancelMarketBody,
  markets: CancelRouteServices['markets'],
): Filter | FilterRefusal | null {
  const market = body.market ?? '';
  const asset = body.asset_id || (body.assetId ?? '');
  if (market === '' && asset === '') return 'no_cancel_filter';
  const conditionId = parseConditionId(market);
  if (market !== '' && conditionId === null) return 'invalid_payload';
  if (asset !== '') return assetFilter(parseAsset(asset), conditionId, markets);
  const token = conditionId === null ? undefined : markets.findCondition(conditionId);
  return token === undefined ? null : { token, outcome: -1 };
}

/** One token, which must belong to the condition when that is named too. */
function assetFilter(
  asset: AskedAsset | null,
  conditionId: ConditionId | null,
  markets: CancelRouteServices['markets'],
): Filter | FilterRefusal | null {
  if (asset === null) return 'invalid_payload';
  const isIndexed = 'condition' in asset;
  const token = isIndexed ? markets.findCondition(asset.condition) : markets.findToken(asset.token);
  if (token === undefined) return null;
  if (conditionId !== null && conditionId !== token.conditionId) return 'condition_mismatch';
  return { token, outcome: isIndexed ? asset.outcome : token.outcome };
}
