import type { Clock } from '@pm/kit/clock';
import type { HttpApp } from '@pm/kit/http';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the headers of the request had arrived, Unix milliseconds. */
    arrivedAtMs: number;
  }
}

/**
 * Notes when each request arrived, before its body is read and before any check. Orders carry that time into the log: a
 * cancel-all fences what arrived before it, however long a body, a signature check or a reservation took
 * (conventions.md 1.6).
 */
export function markArrivals(app: HttpApp, clock: Pick<Clock, 'nowMs'>): void {
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAtMs = clock.nowMs();
    done();
  });
}
