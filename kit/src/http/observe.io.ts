import type { MetricDeclarations, Metrics } from '../metrics/index.ts';
import type { HttpApp } from './app.io.ts';
import type { ShedReason } from './connection-shares.io.ts';
import type { CountResponse } from './express-lane.io.ts';
import { tableMethod } from './service-routes.io.ts';

/** Requests by the patterns of routes (their rate, errors and duration), and connections. */
export const httpMetrics = {
  requests: {
    type: 'counter',
    name: 'pm_http_requests_total',
    help: 'Answered requests.',
    labels: ['method', 'route', 'status'],
  },
  seconds: {
    type: 'histogram',
    name: 'pm_http_request_seconds',
    help: 'From the end of the headers to the answer being handed over.',
    labels: ['method', 'route'],
  },
} as const satisfies MetricDeclarations;

/**
 * Metrics of the connections and requests that a listener ends or refuses because their client holds too much already
 * (limits.md).
 */
export const shedMetrics = {
  shed: {
    type: 'counter',
    name: 'pm_http_shed_total',
    help: 'Connections ended and requests refused by what clients hold: connections of an address, those that it opens too fast, all connections, idle ones for others, unread responses, bytes of bodies.',
    labels: ['reason'],
  },
} as const satisfies MetricDeclarations;

/** Read at each scrape. */
export const httpReadings = {
  connections: {
    type: 'gauge',
    name: 'pm_http_connections',
    help: 'Open connections of the public listener, upgraded ones included.',
  },
} as const satisfies MetricDeclarations;

/** Counters of the responses of an app, by route. */
export interface AnswerCount {
  /** The counter of the route with this method and pattern; the same for the same route. */
  of(method: string, url: string): CountResponse;
  /** Counts a request that matches no route; such requests run no route's hooks. */
  unrouted(method: string, status: number): void;
}

/**
 * Counts each response by the route's pattern, never by its path: paths are endless. A response is counted when it is
 * sent, by route hooks that know their series: hooks on the end of the response cost half as much as responding with
 * a book. Responses of the express lane run no hooks and are counted there.
 */
export function observeRequests(app: HttpApp, metrics: Metrics): AnswerCount {
  const answers = openAnswerCount(metrics);
  countConnections(app, metrics);
  app.addHook('onRoute', (route) => {
    const count = answers.of(tableMethod(route), route.url);
    const hooks = route.onSend === undefined ? [] : [route.onSend].flat();
    route.onSend = [
      ...hooks,
      (request, reply, _payload, done) => {
        count(reply.statusCode, request.beganAtMs);
        done();
      },
    ];
  });
  return answers;
}

/** Counts by reason; counts nothing without metrics. */
export function countShed(metrics: Metrics | undefined): (reason: ShedReason) => void {
  if (metrics === undefined) return () => {};
  const { shed } = metrics.open(shedMetrics);
  return (reason) => shed.add(1, { reason });
}

function countConnections(app: HttpApp, metrics: Metrics): void {
  let connections = 0;
  app.server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
    });
  });
  metrics.gauge({ ...httpReadings.connections, read: () => connections });
}

function openAnswerCount(metrics: Metrics): AnswerCount {
  const { requests, seconds } = metrics.open(httpMetrics);
  const known = new Map<string, CountResponse>();
  const open = (method: string, route: string): CountResponse => {
    const observe = seconds.bind({ method, route });
    const counts: (() => void)[] = [];
    return (status, beganAtMs) => {
      counts[status] ??= requests.bind({ method, route, status });
      counts[status]();
      observe((performance.now() - beganAtMs) / 1000);
    };
  };
  return {
    of(method, url) {
      const name = `${method} ${url}`;
      const count = known.get(name) ?? open(method, url);
      known.set(name, count);
      return count;
    },
    unrouted: (method, status) => requests.add(1, { method, route: 'none', status }),
  };
}
