import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Puts what every answer of a door says beside its own headers: the request's id and, on limited routes, where the caller
 * stands in the tightest rule (docs/limits.md). Done once an answer is being sent, so that answers that write their head
 * themselves (`direct-answers.ts`) pay nothing for fastify's table of headers.
 */
export function putAnswerHeaders(request: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', request.id);
  const { verdict } = request;
  if (verdict === null) return;
  void reply.header('ratelimit-limit', String(verdict.limit));
  void reply.header('ratelimit-remaining', String(verdict.remaining));
  void reply.header('ratelimit-reset', String(verdict.resetSeconds));
}

/** The same for a head that is written at once: adds names and values in turn. */
export function addAnswerHeaders({ id, verdict }: FastifyRequest, head: string[]): void {
  head.push('x-request-id', id);
  if (verdict === null) return;
  const { limit, remaining, resetSeconds } = verdict;
  head.push('ratelimit-limit', String(limit), 'ratelimit-remaining', String(remaining));
  head.push('ratelimit-reset', String(resetSeconds));
}
