import { type DoorRoute, refuse } from '@pm/kit/http';
import { ordersPerRequestMax } from '@pm/schemas';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { batchBodyMaxBytes, invalidPayload } from '../door/request-checks.io.ts';
import type { IsSubmission } from './form.ts';
import { inspectOrder } from './order-inspection.io.ts';

/**
 * POST /orders/validate: the items of POST /orders, checked in every way and placed in none. One finding per item; a body
 * that is one order and no array is one item (conventions.md 3.11).
 */
export function validateOrdersRoute(ports: DoorPorts, isSubmission: IsSubmission): DoorRoute {
  return {
    method: 'POST',
    path: '/orders/validate',
    add(app, { url }) {
      const options = { bodyLimit: batchBodyMaxBytes, config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const { body } = request;
        const items: readonly unknown[] = Array.isArray(body) ? body : [body];
        if (body === undefined || items.length === 0) return refuse(reply, 'invalid_payload');
        const facts = { count: items.length, max: ordersPerRequestMax };
        if (items.length > ordersPerRequestMax) return refuse(reply, 'too_many_orders', facts);
        const at = { caller, isSubmission };
        return await Promise.all(items.map((item) => inspectOrder(item, at, ports)));
      });
    },
  };
}
