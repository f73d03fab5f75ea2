import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nosniff } from '../listener/refusal.io.ts';
import type { HttpApp } from './app.io.ts';

const harmlessId = /^[\w-]{1,64}$/;

/**
 * The ids of an app's requests: the caller's own when it is harmless, otherwise a prefix of this app and the number
 * of the request.
 */
export function openRequestIds(): (request: IncomingMessage) => string {
  const prefix = randomBytes(6).toString('hex');
  let count = 0;
  return (request) => {
    const given = request.headers['x-request-id'];
    if (typeof given === 'string' && harmlessId.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/**
 * Sets the headers of every response: the request's id, that its type is not guessed and, on limited routes, the
 * caller's use of the tightest rule (limits.md).
 */
export function putAnswerHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id);
  void reply.header(...nosniff);
  const { verdict } = request;
  if (verdict === null) return;
  void reply.header('ratelimit-limit', String(verdict.limit));
  void reply.header('ratelimit-remaining', String(verdict.remaining));
  void reply.header('ratelimit-reset', String(verdict.resetSeconds));
}

/**
 * The only routes that pages of other origins may call: with a bearer key or none. Signed routes are among them, but
 * browsers are not allowed to send their headers (conventions.md 2.7).
 */
const openPrefix = '/api/v1/';
const preflightSeconds = '86400';
const exposed = 'retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/**
 * Lets browsers of any origin read `/api/v1/*`: `Access-Control-Allow-Origin: *`, preflights answered with 204. Call it
 * before the routes are added.
 */
export function openToBrowsers(app: HttpApp): void {
  // With a callback: a promise would delay every other request by a microtask.
  app.addHook('onRequest', (request, reply, done) => {
    if (!openAnswer(request, reply) || request.method !== 'OPTIONS') {
      done();
      return;
    }
    void reply
      .header('access-control-allow-methods', 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
      .header('access-control-allow-headers', 'authorization, content-type, x-request-id')
      .header('access-control-max-age', preflightSeconds)
      .code(204)
      .send();
  });
}

/** Allows pages of any origin to read this response. False, with no header set, where they may not. */
export function openAnswer(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith(openPrefix)) return false;
  void reply.header('access-control-allow-origin', '*');
  void reply.header('access-control-expose-headers', exposed);
  return true;
}
