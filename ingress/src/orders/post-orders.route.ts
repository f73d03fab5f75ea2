import type { DoorRoute } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import { ordersPerRequestMax } from '@pm/schemas';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { batchBodyMaxBytes, invalidPayload } from '../door/request-checks.io.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import { batchAnswer, replyToPlacement } from './placement-reply.io.ts';
import type { Placements } from './placements.io.ts';

/** POST /orders: 1 to 15 orders; one result each, in their order (conventions.md 3.7). */
export function postOrdersRoute(ports: DoorPorts, placements: Placements): DoorRoute {
  return {
    method: 'POST',
    path: '/orders',
    add(app, { url }) {
      const options = { bodyLimit: batchBodyMaxBytes, config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        const items: unknown = request.body;
        if (!Array.isArray(items) || items.length === 0) return refuse(reply, 'invalid_payload');
        const facts = { count: items.length, max: ordersPerRequestMax };
        if (items.length > ordersPerRequestMax) return refuse(reply, 'too_many_orders', facts);
        const asked = { route: '/orders', items, answer: batchAnswer } as const;
        const work = { request, reply, caller, times };
        return await replyToPlacement(asked, work, { placements, ports });
      });
    },
  };
}
