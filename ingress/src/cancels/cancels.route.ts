import { type DoorRoute, refuse } from '@pm/kit/http';
import type { RefusalCode } from '@pm/schemas';
import type { FastifyRequest } from 'fastify';
import { authenticate } from '../door/authentication.io.ts';
import type { DoorPorts } from '../door/ports.io.ts';
import { invalidPayload } from '../door/request-checks.io.ts';
import { StageTimes } from '../door/stage-times.io.ts';
import { answerCancel } from './cancel-answer.route.ts';
import type { Canceler, Cancellation } from './cancel-orders.io.ts';

/** What a route that cancels is asked to do. */
export interface CancelRoute {
  readonly path: '/order' | '/orders' | '/cancel-all' | '/cancel-market-orders';
  readonly bodyLimit: number;
  /** What the texts of its refusals name. */
  readonly facts?: Readonly<Record<string, string | number>>;
  /** What a request means, as what will be done for its caller; or why it means nothing. */
  read(request: FastifyRequest): RefusalCode | ((canceler: Canceler) => Promise<Cancellation>);
}

/** The frame of every DELETE of orders: who asks, what he means, what became of it, and how long each took. */
export function cancelRoute(ports: DoorPorts, route: CancelRoute): DoorRoute {
  const { path, bodyLimit, facts } = route;
  return {
    method: 'DELETE',
    path,
    add(app, { url }) {
      const options = { bodyLimit, config: { invalid: invalidPayload } };
      app.delete(url, options, async (request, reply) => {
        const times = new StageTimes(ports.clock);
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        times.mark('auth');
        const cancel = route.read(request);
        if (typeof cancel === 'string') return refuse(reply, cancel, facts);
        return answerCancel(await cancel({ caller, times }), { reply, times });
      });
    },
  };
}
