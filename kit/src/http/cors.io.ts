import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from './app.io.ts';

/**
 * The only routes that pages of other origins may call: with a bearer key or none. Signed routes are among them, but their
 * headers are not: no page gets a browser to send those (conventions.md 1.11).
 */
const OPEN_PREFIX = '/api/v1/';
const PREFLIGHT_SECONDS = '86400';
const exposed = 'retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/**
 * Lets browsers of any origin read `/api/v1/*`: `Access-Control-Allow-Origin: *`, preflights answered with 204. Call it
 * before the routes are added.
 */
export function openToBrowsers(app: HttpApp): void {
  // With a callback: a promise here would be one more turn of every other request.
  app.addHook('onRequest', (request, reply, done) => {
    if (!openAnswer(request, reply) || request.method !== 'OPTIONS') {
      done();
      return;
    }
    void reply
      .header('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
      .header('access-control-allow-headers', 'authorization, content-type, x-request-id')
      .header('access-control-max-age', PREFLIGHT_SECONDS)
      .code(204)
      .send();
  });
}

/** Says that pages of any origin may read this answer. False, and says nothing, where they may not. */
export function openAnswer(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith(OPEN_PREFIX)) return false;
  void reply.header('access-control-allow-origin', '*');
  void reply.header('access-control-expose-headers', exposed);
  return true;
}
