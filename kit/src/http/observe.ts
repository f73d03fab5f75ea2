import type { Metrics } from '../metrics/index.ts';
import type { HttpApp } from './app.ts';

/**
 * Counts each answer by the route's pattern, never by its path: paths are endless. What is counted is the answer being
 * handed over, by route hooks that know their series: hooks on the end of the response cost half as much again as answering
 * a book does.
 */
export function observeRequests(app: HttpApp, metrics: Metrics): RequestCount {
  const requests = metrics.counter({
    name: 'pm_http_requests_total',
    help: 'Answered requests.',
    labels: ['method', 'route', 'status'],
  });
  const seconds = metrics.histogram({
    name: 'pm_http_request_seconds',
    help: 'From the end of the headers to the answer being handed over.',
    labels: ['method', 'route'],
  });
  app.addHook('onRoute', (route) => {
    const name = { method: String(route.method), route: route.url };
    const observe = seconds.bind(name);
    const counts = new Map<number, () => void>();
    const count = (status: number): (() => void) => {
      const known = counts.get(status);
      if (known !== undefined) return known;
      const fresh = requests.bind({ ...name, status });
      counts.set(status, fresh);
      return fresh;
    };
    const hooks = route.onSend === undefined ? [] : [route.onSend].flat();
    route.onSend = [
      ...hooks,
      (request, reply, _payload, done) => {
        count(reply.statusCode)();
        observe((performance.now() - request.beganAtMs) / 1000);
        done();
      },
    ];
  });
  return { unrouted: (method) => requests.add(1, { method, route: 'none', status: 404 }) };
}

/** What the door counts itself. */
export interface RequestCount {
  /** A request that no route takes; such requests pass no route's hooks. */
  unrouted(method: string): void;
}
