import type { DoorRoute } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import { ordersPerRequestMax } from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import { authenticate } from './authenticate.ts';
import { commonOutage, type Placement, type Placements } from './place-orders.ts';
import type { DoorPorts } from './ports.ts';
import { batchBodyMaxBytes, invalidPayload } from './route.ts';

/** POST /orders: 1 to 15 orders; one result each, in their order (docs/conventions.md 3.7). */
export function postOrdersRoute(ports: DoorPorts, placements: Placements): DoorRoute {
  return {
    method: 'POST',
    path: '/orders',
    add(app, { url }) {
      const options = { bodyLimit: batchBodyMaxBytes, config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const items: unknown = request.body;
        if (!Array.isArray(items) || items.length === 0) return refuse(reply, 'invalid_payload');
        const facts = { count: items.length, max: ordersPerRequestMax };
        if (items.length > ordersPerRequestMax) return refuse(reply, 'too_many_orders', facts);
        return answer(await placements.place(items, caller), reply);
      });
    },
  };
}

function answer(placement: Placement, reply: FastifyReply) {
  if (placement.kind === 'refused') return refuse(reply, placement.code);
  const outage = commonOutage(placement.results);
  return outage === null ? placement.results : refuse(reply, outage);
}
