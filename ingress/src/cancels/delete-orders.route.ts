import { type DoorRoute, parseListParam } from '@pm/kit/http';
import { cancelsPerRequestMax, type OrderId, parseOrderId } from '@pm/schemas';
import type { DoorPorts } from '../door/ports.io.ts';
import { batchBodyMaxBytes } from '../door/request-checks.io.ts';
import { cancelOrders } from './cancel-orders.io.ts';
import { cancelRoute } from './cancels.route.ts';

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
