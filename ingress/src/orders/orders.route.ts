import { type DoorRoute, refuse } from '@pm/kit/http';
import { ordersPerRequestMax } from '@pm/schemas';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import {
  batchBodyMaxBytes,
  invalidPayload,
  singleBodyMaxBytes,
} from '../door/request-checks.io.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import type { IsSubmission } from './form.ts';
import { inspectOrder } from './order-inspection.io.ts';
import { batchAnswer, replyToPlacement, singleAnswer } from './placement-reply.io.ts';
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
