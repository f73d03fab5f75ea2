import type { FastifyReply } from 'fastify';

/** The JSON text "OK": strict clients take nothing else for a revoked key (conventions.md 1.2). */
export function sendOk(reply: FastifyReply): FastifyReply {
  return reply.type('application/json; charset=utf-8').send('"OK"');
}
