import { checkerOf } from '@pm/domain/requests/requests.io';
import type { HttpHandler } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import {
  type BareHeartbeatResponse,
  HeartbeatBody,
  type HeartbeatResponse,
} from '@pm/schemas/http/sessions';
import { parseHeartbeatId } from '@pm/schemas/ids';
import { refusalText } from '@pm/schemas/refusals';
import type { FastifyReply } from 'fastify';
import { depositFacts } from '../accounts/entry-quota.io.ts';
import { type Authentication, authenticate } from '../http/authentication.io.ts';
import type { HeartbeatClaim, HeartbeatResult } from './decide-heartbeat.ts';
import type { Heartbeats } from './heartbeats.io.ts';

export interface SessionServices {
  readonly authentication: Authentication;
  readonly heartbeats: Pick<Heartbeats, 'beat'>;
}

/** The two routes that take heartbeats. */
export function heartbeatRoutes(services: SessionServices): readonly HttpHandler[] {
  return [heartbeatRoute(services, checkerOf(HeartbeatBody)), bareHeartbeatRoute(services)];
}

/** The response to a body that is no JSON or not of its shape. */
const invalidBody = { text: 'Invalid heartbeat payload', code: 'invalid_request' } as const;

/**
 * POST /v1/heartbeats: the next heartbeat of the chain of this API key; the first one arms the cancel on silence. A
 * wrong id gets the expected one, empty when there is no chain (conventions.md 3.16).
 */
function heartbeatRoute(
  services: SessionServices,
  isBody: (value: unknown) => value is HeartbeatBody,
): HttpHandler {
  return {
    method: 'POST',
    path: '/v1/heartbeats',
    add(app, { url }) {
      const options = { config: { invalid: invalidBody } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const body: unknown = request.body ?? {};
        if (!isBody(body)) {
          return await reply.code(400).send({ error: invalidBody.text, code: invalidBody.code });
        }
        const result = await services.heartbeats.beat(caller, claimOf(body));
        if (result.kind !== 'accepted') return refuseHeartbeat(result, reply);
        const response: HeartbeatResponse = { heartbeat_id: result.id };
        return response;
      });
    },
  };
}

/** POST /heartbeats: the same timer without a chain; a body is read and ignored (conventions.md 3.16). */
function bareHeartbeatRoute(services: SessionServices): HttpHandler {
  return {
    method: 'POST',
    path: '/heartbeats',
    add(app, { url }) {
      const options = { config: { invalid: invalidBody } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, services.authentication);
        if (caller === null) return reply;
        const result = await services.heartbeats.beat(caller, { kind: 'bare' });
        if (result.kind !== 'accepted') return refuseHeartbeat(result, reply);
        const response: BareHeartbeatResponse = { status: 'ok', heartbeat_id: result.id };
        return response;
      });
    },
  };
}

/** An id that is no UUID is as wrong as an old one: the response has the right one. */
function claimOf({ heartbeat_id: text }: HeartbeatBody): HeartbeatClaim {
  if (text === undefined || text === null || text === '') return { kind: 'start' };
  return { kind: 'next', id: parseHeartbeatId(text) };
}

function refuseHeartbeat(
  result: Exclude<HeartbeatResult, { kind: 'accepted' }>,
  reply: FastifyReply,
): FastifyReply {
  if (result.kind === 'refused') return refuse(reply, result.code, depositFacts);
  const text = refusalText('invalid_heartbeat');
  const body = { error_msg: text, heartbeat_id: result.expected ?? '' };
  return refuse(reply, 'invalid_heartbeat', {}, { body });
}
