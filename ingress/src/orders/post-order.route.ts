import type { DoorRoute } from '@pm/kit/http';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { invalidPayload, singleBodyMaxBytes } from '../door/request-checks.io.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import { replyToPlacement, singleAnswer } from './placement-reply.io.ts';
import type { Placements } from './placements.io.ts';

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
