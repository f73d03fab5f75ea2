import { refuse } from '@pm/kit/http';
import { type RefusalCode, refusals } from '@pm/schemas';
import type { FastifyReply } from 'fastify';

/** A refusal in the words of the catalog family: `type` beside `error` (docs/conventions.md 1.0). */
export function refuseSocial(
  reply: FastifyReply,
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
): FastifyReply {
  const type = refusals[code].status === 404 ? 'not found error' : 'bad request';
  return refuse(reply, code, facts, { body: { type } });
}
