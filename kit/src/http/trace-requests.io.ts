import proxyAddress from '@fastify/proxy-addr';
import {
  isTraceInShare,
  newSpanId,
  newTraceId,
  type RemoteSpan,
  type RequestTrace,
  readTraceparent,
  type Traces,
  traceparentHeader,
} from '../traces/index.ts';
import type { HttpApp } from './app.io.ts';
import { tableMethod } from './service-routes.io.ts';

/**
 * Gives a share of the requests a span each. The trace of a caller (`traceparent`) goes on where the connection is that
 * of a trusted proxy, if the caller records it and its id is in the share. Other callers choose no id, so that they
 * decide nothing about what is recorded: the span has a link to theirs. Responses of the express lane run no hooks and
 * have none. `trustedProxies`: addresses and CIDR networks.
 */
export function traceRequests(
  app: HttpApp,
  traces: Traces,
  trustedProxies: readonly string[],
): void {
  const isTrusted = proxyAddress.compile([...trustedProxies]);
  app.addHook('onRequest', (request, _reply, done) => {
    const caller = readTraceparent(request.headers[traceparentHeader]);
    const continues = caller !== null && isTrusted(request.socket.remoteAddress ?? '', 0);
    const trace = continues ? continued(caller, traces.share) : begun(caller, traces.share);
    if (trace !== null) request.trace = trace;
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    const { trace, routeOptions } = request;
    if (trace !== undefined) {
      const method = tableMethod({ method: request.method });
      const route = routeOptions.url ?? 'none';
      const { traceId, spanId, parentId, caller, orders } = trace;
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
        links: caller === null ? orders : [...orders, caller],
        failed: reply.statusCode >= 500,
      });
    }
    done();
  });
}

function continued({ traceId, spanId, isSampled }: RemoteSpan, share: number): RequestTrace | null {
  if (!isSampled || !isTraceInShare(traceId, share)) return null;
  return { traceId, spanId: newSpanId(), parentId: spanId, caller: null, orders: [] };
}

function begun(caller: RemoteSpan | null, share: number): RequestTrace | null {
  const traceId = newTraceId();
  if (!isTraceInShare(traceId, share)) return null;
  const link = caller === null ? null : { traceId: caller.traceId, spanId: caller.spanId };
  return { traceId, spanId: newSpanId(), parentId: null, caller: link, orders: [] };
}
