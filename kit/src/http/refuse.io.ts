import {
  retryAfterSeconds as defaultRetryAfterSeconds,
  hasRetryAfter,
} from '@pm/schemas/refusal-codes';
import { type RefusalCode, refusals, refusalText } from '@pm/schemas/refusals';
import type { FastifyReply } from 'fastify';
import type { ErrorBody } from './errors.io.ts';
import { errorStyleOf } from './route-family.ts';
import { familyOf } from './service-routes.io.ts';

export interface RefusalExtra {
  /** When the same request may succeed, seconds; also sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** Further fields of the body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/**
 * Responds with a refusal of the closed list: its status, `{"error": text, "code": code}`, `retry_after_seconds` and
 * `Retry-After` with 425, 429 and 503, `WWW-Authenticate` with 401 (RFC 9110 11.6.1), in the error format of the
 * route's family.
 */
export function refuse(
  reply: FastifyReply,
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
  extra: RefusalExtra = {},
): FastifyReply {
  const { status } = refusals[code];
  const retryAfterSeconds = extra.retryAfterSeconds ?? defaultRetryAfterSeconds(code);
  if (hasRetryAfter(code))
    void reply.header('retry-after', String(Math.ceil(retryAfterSeconds ?? 0)));
  if (status === 401) void reply.header('www-authenticate', 'HMAC');
  const extraFields = retryAfterSeconds === undefined ? extra : { ...extra, retryAfterSeconds };
  const body = refusalBody(code, facts, extraFields);
  return reply.code(status).send(errorStyleOf(familyOf(reply.request), status, body));
}

/** The body alone, for the items of a batch. */
export function refusalBody(
  code: RefusalCode,
  facts: Readonly<Record<string, string | number>> = {},
  { retryAfterSeconds, body = {} }: RefusalExtra = {},
): ErrorBody {
  const retry =
    retryAfterSeconds === undefined ? {} : { retry_after_seconds: Math.ceil(retryAfterSeconds) };
  return { ...body, error: refusalText(code, facts), code, ...retry };
}
