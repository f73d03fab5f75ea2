import type { DoorRoute } from '@pm/kit/http';
import { authenticate } from './authenticate.ts';
import type { Placements } from './place-orders.ts';
import { replyToPlacement, singleAnswer } from './placement-reply.ts';
import type { DoorPorts } from './ports.ts';
import { invalidPayload, singleBodyMaxBytes } from './route.ts';
import { StageTimes } from './stage-times.ts';

/**
 * POST /order: one order. A refused one is answered with the status of its refusal and the full result, so that clients
 * which read `error` and clients which read `errorMsg` both understand (conventions.md 1.12).
 */
export function postOrderRoute(ports: DoorPorts, placements: Placements): DoorRoute {
  return {
    method: 'POST',
    path: '/order',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        const asked = { route: '/order', items: [request.body], answer: singleAnswer } as const;
        const work = { request, reply, caller, times };
        return await replyToPlacement(asked, work, { placements, ports });
      });
    },
  };
}
