import {
  isTraceInShare,
  newSpanId,
  newTraceId,
  type RequestTrace,
  readTraceparent,
  type Traces,
  traceparentHeader,
} from '../traces/index.ts';
import type { HttpApp } from './app.io.ts';
import { tableMethod } from './door-routes.io.ts';

/**
 * Gives a share of the requests a span each. The trace of a caller (`traceparent`) goes on if the caller records it and
 * its id is in the share, so that no client decides how much is recorded. Responses of the express lane run no hooks
 * and have none.
 */
export function traceRequests(app: HttpApp, traces: Traces): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const trace = traceOf(request.headers[traceparentHeader], traces.share);
    if (trace !== null) request.trace = trace;
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { trace, routeOptions } = request;
    if (trace !== undefined) {
      const method = tableMethod({ method: request.method });
      const route = routeOptions.url ?? 'none';
      const { traceId, spanId, parentId, orders } = trace;
      traces.add({
        traceId,
        spanId,
        parentId,
        name: `${method} ${route}`,
        kind: 'server',
        startMs: request.beganAtMs,
        endMs: performance.now(),
        attributes: {
          'http.request.method': request.method,
          'http.route': route,
          'http.response.status_code': reply.statusCode,
          'request.id': request.id,
        },
        links: orders,
        failed: reply.statusCode >= 500,
      });
    }
    done();
  });
}

function traceOf(header: unknown, share: number): RequestTrace | null {
  const caller = readTraceparent(header);
  if (caller !== null && !caller.isSampled) return null;
  const traceId = caller?.traceId ?? newTraceId();
  if (!isTraceInShare(traceId, share)) return null;
  return { traceId, spanId: newSpanId(), parentId: caller?.spanId ?? null, orders: [] };
}
