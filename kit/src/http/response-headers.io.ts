import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { nosniff } from '../listener/refusal.io.ts';
import { behindHeader } from './answered-places.ts';

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

/** Beside anonymous routes: those of agents, whose bearer key a page may hold. */
const agentPrefix = '/api/v1/';
const preflightSeconds = '86400';
const exposed =
  'retry-after, x-request-id, ratelimit-limit, ratelimit-remaining, ratelimit-reset, age, x-complete-through, ' +
  behindHeader;

/** Headers, as names and values alternately, that let pages of any origin read a response. */
export const openToPages = [
  ...['access-control-allow-origin', '*'],
  ...['access-control-expose-headers', exposed],
] as const;

/** Whether pages of other origins may call a route: with a bearer key or without any (conventions.md 1.2). */
export function isOpenToPages(url: string, auth: readonly string[] = []): boolean {
  return auth.includes('none') || url.startsWith(agentPrefix);
}

/**
 * Lets pages of any origin read this response where its route is open to them. Signed routes are not: browsers get no
 * permission to send their headers.
 */
export function openAnswer({ url, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  if (!isOpenToPages(url, routeOptions.config?.declaration?.auth)) return;
  void reply.header('access-control-allow-origin', '*');
  void reply.header('access-control-expose-headers', exposed);
}

/** Says to a browser that pages of any origin may use these methods of a path. */
export function allowPages(reply: FastifyReply, methods: readonly string[]): void {
  if (methods.length === 0) return;
  void reply
    .header('access-control-allow-origin', '*')
    .header('access-control-allow-methods', methods.join(', '))
    .header('access-control-allow-headers', 'authorization, content-type, x-request-id')
    .header('access-control-max-age', preflightSeconds);
}
