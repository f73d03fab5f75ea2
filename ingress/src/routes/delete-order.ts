import type { DoorRoute } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import { type CancelOrderBody, type OrderId, parseOrderId } from '@pm/schemas';
import { authenticate } from './authenticate.ts';
import { answerCancel } from './cancel-answer.ts';
import { cancelOrders } from './cancel-runner.ts';
import type { DoorPorts } from './ports.ts';
import { invalidPayload, singleBodyMaxBytes } from './route.ts';
import { StageTimes } from './stage-times.ts';

/** DELETE /order: one order of the caller, in either spelling of the id (docs/conventions.md 1.6). */
export function deleteOrderRoute(
  ports: DoorPorts,
  isBody: (value: unknown) => value is CancelOrderBody,
): DoorRoute {
  return {
    method: 'DELETE',
    path: '/order',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidPayload } };
      app.delete(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        const orderId = readOrderId(request.body ?? request.query, isBody);
        if (orderId === 'malformed') return refuse(reply, 'invalid_payload');
        if (orderId === null) return refuse(reply, 'invalid_order_id');
        return answerCancel(await cancelOrders([orderId], { caller, times }, ports), {
          reply,
          times,
        });
      });
    },
  };
}

/** The id in the body; null when it is none, `malformed` when there is no object to hold it. */
function readOrderId(
  body: unknown,
  isBody: (value: unknown) => value is CancelOrderBody,
): OrderId | null | 'malformed' {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'malformed';
  return isBody(body) ? parseOrderId(body.orderID ?? body.orderId ?? '') : null;
}
