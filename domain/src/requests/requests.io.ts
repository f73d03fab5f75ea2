import type { Clock } from '@pm/kit/clock';
import { reactionTo } from '@pm/kit/fault';
import { type HttpApp, waitedBy } from '@pm/kit/http';
import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';

/** The response of routes that take orders to a body that is no JSON or not of their shape. */
export const invalidPayload = { text: 'Invalid order payload', code: 'invalid_payload' } as const;

/** A compiled check of a schema. */
export function checkerOf<const T extends TSchema>(schema: T) {
  const compiled = Compile(schema);
  return (value: unknown): value is Static<T> => compiled.Check(value);
}

declare module 'fastify' {
  interface FastifyRequest {
    /** When the headers of the request had arrived at the exchange, Unix milliseconds. */
    arrivedAtMs: number;
  }
}

/**
 * Notes when each request arrived, before its body is read and before any check. Orders carry that time into the log: a
 * cancel-all fences what arrived before it, however long its turn at the gateway, a body, a signature check or a
 * reservation took (conventions.md 3.12). `trustedProxies` say how long it was with them.
 */
export function markArrivals(
  app: HttpApp,
  clock: Pick<Clock, 'nowMs'>,
  trustedProxies: readonly string[],
): void {
  const waitedMs = waitedBy(trustedProxies);
  app.decorateRequest('arrivedAtMs', 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.arrivedAtMs = clock.nowMs() - waitedMs(request);
    done();
  });
}

/** The result of a store; null when it is unavailable for a moment. Throws all other faults. */
export async function unlessUnavailable<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (reactionTo(error) !== 'retry') throw error;
    return null;
  }
}
