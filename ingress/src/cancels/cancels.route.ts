import { type DoorRoute, parseListParam, refuse } from '@pm/kit/http';
import {
  type AskedAsset,
  type CancelMarketBody,
  type CancelOrderBody,
  type CancelResult,
  type ConditionId,
  cancelsPerRequestMax,
  type OrderId,
  parseAsset,
  parseConditionId,
  parseOrderId,
  type RefusalCode,
} from '@pm/schemas';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ListedToken } from '../catalog/catalog-index.ts';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts, MarketDirectory } from '../door/ports.io.ts';
import {
  batchBodyMaxBytes,
  invalidPayload,
  singleBodyMaxBytes,
} from '../door/request-checks.io.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import {
  type Canceler,
  type Cancellation,
  cancelAll,
  cancelMarket,
  cancelOrders,
} from './cancel-orders.io.ts';

/** What a route that cancels is asked to do. */
export interface CancelRoute {
  readonly path: '/order' | '/orders' | '/cancel-all' | '/cancel-market-orders';
  readonly bodyLimit: number;
  /** What the texts of its refusals name. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** What a request means, as what will be done for its caller; or why it means nothing. */
  read(request: FastifyRequest): RefusalCode | ((canceler: Canceler) => Promise<Cancellation>);
}

/** The frame of every DELETE of orders: who asks, what he means, what became of it, and how long each took. */
export function cancelRoute(ports: DoorPorts, route: CancelRoute): DoorRoute {
  const { path, bodyLimit, facts } = route;
  return {
    method: 'DELETE',
    path,
    add(app, { url }) {
      const options = { bodyLimit, config: { invalid: invalidPayload } };
      app.delete(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        const cancel = route.read(request);
        if (typeof cancel === 'string') return refuse(reply, cancel, facts);
        return answerCancel(await cancel({ caller, times }), { reply, times });
      });
    },
  };
}

/**
 * What was canceled and what was not; when the request failed, what is known to be canceled stands beside the error
 * (conventions.md 1.6).
 */
export function answerCancel(
  { result, failure }: Cancellation,
  { reply, times }: { readonly reply: FastifyReply; readonly times: StageTimes },
): CancelResult | FastifyReply {
  times.tell(reply);
  if (failure === null) return result;
  return refuse(reply, failure, {}, { body: { ...result } });
}

/** DELETE /order: one order of the caller, in either spelling of the id (conventions.md 1.6). */
export function deleteOrderRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is CancelOrderBody,
): DoorRoute {
  return cancelRoute(ports, {
    path: '/order',
    bodyLimit: singleBodyMaxBytes,
    read({ body, query }) {
      const orderId = readOrderId(body ?? query, isBody);
      if (orderId === 'malformed') return 'invalid_payload';
      if (orderId === null) return 'invalid_order_id';
      return (canceler) => cancelOrders([orderId], canceler, ports);
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
 * DELETE /orders: up to `cancelsPerRequestMax` orders of the caller, a JSON array of ids; the same id twice counts once. A
 * body that was lost on the way may stand in the query as `orderIDs` (conventions.md 1.6, part 9).
 */
export function deleteOrdersRoute(ports: DoorPorts): DoorRoute {
  return cancelRoute(ports, {
    path: '/orders',
    bodyLimit: batchBodyMaxBytes,
    facts: { max: cancelsPerRequestMax },
    read({ body, query }) {
      const ids = readIds(body ?? idsInQuery(query));
      if (typeof ids === 'string') return ids;
      return (canceler) => cancelOrders([...ids], canceler, ports);
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
 * DELETE /cancel-all: every order of the caller in every market. Orders of his that arrived before it and are still on
 * their way are refused as `fenced`; those that arrive later are not touched. A body is ignored (conventions.md 1.6).
 */
export function cancelAllRoute(ports: DoorPorts): DoorRoute {
  return cancelRoute(ports, {
    path: '/cancel-all',
    bodyLimit: singleBodyMaxBytes,
    read: () => (canceler) => cancelAll(canceler, ports),
  });
}

const nothing: Cancellation = { result: { canceled: [], not_canceled: {} }, failure: null };

/**
 * DELETE /cancel-market-orders: all orders of the caller in a market or of a token. The filter comes in the body, or in the
 * query when the body was lost on the way; the key that is not used may be an empty text (conventions.md 1.6, part 9).
 */
export function cancelMarketOrdersRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is CancelMarketBody,
): DoorRoute {
  return cancelRoute(ports, {
    path: '/cancel-market-orders',
    bodyLimit: singleBodyMaxBytes,
    read({ body, query }) {
      const asked: unknown = body ?? query;
      const filter = isBody(asked) ? readFilter(asked, ports.markets) : 'invalid_payload';
      if (typeof filter === 'string') return filter;
      return (canceler) => cancelFiltered(filter, canceler, ports);
    },
  });
}

async function cancelFiltered(
  filter: Filter | null,
  canceler: Canceler,
  ports: DoorPorts,
): Promise<Cancellation> {
  return filter === null ? nothing : await cancelMarket(filter, canceler, ports);
}

type FilterRefusal = 'no_cancel_filter' | 'invalid_payload' | 'condition_mismatch';
type Filter = { readonly token: ListedToken; readonly outcome: number };

/** The market and token meant; null when nothing of that name is listed, so that nothing can rest there. */
function readFilter(
  body: CancelMarketBody,
  markets: MarketDirectory,
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
  markets: MarketDirectory,
): Filter | FilterRefusal | null {
  if (asset === null) return 'invalid_payload';
  const isIndexed = 'condition' in asset;
  const token = isIndexed ? markets.findCondition(asset.condition) : markets.findToken(asset.token);
  if (token === undefined) return null;
  if (conditionId !== null && conditionId !== token.conditionId) return 'condition_mismatch';
  return { token, outcome: isIndexed ? asset.outcome : token.outcome };
}
