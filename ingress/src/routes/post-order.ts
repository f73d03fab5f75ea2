import type { DoorRoute } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import { authenticate } from './authenticate.ts';
import { type Placements, statusOf } from './place-orders.ts';
import type { DoorPorts } from './ports.ts';
import { invalidPayload, singleBodyMaxBytes } from './route.ts';

/**
 * POST /order: one order. A refused one is answered with the status of its refusal and the full result, so that clients
 * which read `error` and clients which read `errorMsg` both understand (docs/conventions.md 1.12).
 */
export function postOrderRoute(ports: DoorPorts, placements: Placements): DoorRoute {
  return {
    method: 'POST',
    path: '/order',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidPayload } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const placement = await placements.place([request.body], caller);
        if (placement.kind === 'refused') return refuse(reply, placement.code);
        const [result] = placement.results;
        if (result === undefined) return refuse(reply, 'internal_error');
        if (result.success) return result;
        const { retry_after_seconds: wait } = result;
        if (wait !== undefined) void reply.header('retry-after', String(wait));
        return await reply.code(statusOf(result)).send({ ...result, error: result.errorMsg });
      });
    },
  };
}
