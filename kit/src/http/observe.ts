import type { FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics/index.ts';
import type { HttpApp } from './app.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts the answers of a route; null where requests are not counted. */
    answerCount: AnswerCount | null;
  }
}

/** Counts an answer of one route that is being handed over. */
export type CountAnswer = (request: FastifyRequest, status: number) => void;

/** The answers of an app, by route. */
export interface AnswerCount {
  /** Of the route with this method and pattern; the same for the same route. */
  of(method: string, url: string): CountAnswer;
  /** A request that no route takes; such requests pass no route's hooks. */
  unrouted(method: string): void;
}

/**
 * Counts each answer by the route's pattern, never by its path: paths are endless. What is counted is the answer being
 * handed over, by route hooks that know their series: hooks on the end of the response cost half as much again as answering
 * a book does. Answers that pass by the hooks (`direct-answers.ts`) count themselves.
 */
export function observeRequests(app: HttpApp, metrics: Metrics): AnswerCount {
  const answers = openAnswerCount(metrics);
  app.addHook('onRoute', (route) => {
    const count = answers.of(String(route.method), route.url);
    const hooks = route.onSend === undefined ? [] : [route.onSend].flat();
    route.onSend = [
      ...hooks,
      (request, reply, _payload, done) => {
        count(request, reply.statusCode);
        done();
      },
    ];
  });
  return answers;
}

function openAnswerCount(metrics: Metrics): AnswerCount {
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
  const known = new Map<string, CountAnswer>();
  const open = (method: string, route: string): CountAnswer => {
    const observe = seconds.bind({ method, route });
    const counts: (() => void)[] = [];
    return (request, status) => {
      counts[status] ??= requests.bind({ method, route, status });
      counts[status]();
      observe((performance.now() - request.beganAtMs) / 1000);
    };
  };
  return {
    of(method, url) {
      const name = `${method} ${url}`;
      const count = known.get(name) ?? open(method, url);
      known.set(name, count);
      return count;
    },
    unrouted: (method) => requests.add(1, { method, route: 'none', status: 404 }),
  };
}
