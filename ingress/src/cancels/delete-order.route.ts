import type { DoorRoute } from '@pm/kit/http';
import { type CancelOrderBody, type OrderId, parseOrderId } from '@pm/schemas';
import type { DoorPorts } from '../door/ports.io.ts';
import { singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { cancelOrders } from './cancel-orders.io.ts';
import { cancelRoute } from './cancels.route.ts';

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
