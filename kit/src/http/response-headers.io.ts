import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Puts what every answer of a door says beside its own headers: the request's id and, on limited routes, where the caller
 * stands in the tightest rule (limits.md).
 */
export function putAnswerHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id);
  const { verdict } = request;
  if (verdict === null) return;
  void reply.header('ratelimit-limit', String(verdict.limit));
  void reply.header('ratelimit-remaining', String(verdict.remaining));
  void reply.header('ratelimit-reset', String(verdict.resetSeconds));
}
