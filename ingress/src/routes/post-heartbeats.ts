import type { DoorRoute } from '@pm/kit/http';
import { refuse } from '@pm/kit/http';
import {
  type BareHeartbeatAnswer,
  type HeartbeatAnswer,
  type HeartbeatBody,
  parseHeartbeatId,
  refusalText,
} from '@pm/schemas';
import type { FastifyReply } from 'fastify';
import type { HeartbeatClaim, HeartbeatOutcome } from '../core/heartbeat.ts';
import { type AuthPorts, authenticate } from './authenticate.ts';
import type { DoorPorts } from './ports.ts';
import { singleBodyMaxBytes } from './route.ts';

type HeartbeatPorts = AuthPorts & Pick<DoorPorts, 'sessions'>;

/** What is answered to a body that is no JSON or not of its shape. */
const invalidBody = { text: 'Invalid heartbeat payload', code: 'invalid_request' } as const;

/**
 * POST /v1/heartbeats: the next heartbeat of the chain of this API key; the first one arms the cancel on silence. A wrong id
 * is answered with the one expected, empty when there is no chain (conventions.md part 5).
 */
export function heartbeatRoute(
  ports: HeartbeatPorts,
  isBody: (value: unknown) => value is HeartbeatBody,
): DoorRoute {
  return {
    method: 'POST',
    path: '/v1/heartbeats',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidBody } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const body: unknown = request.body ?? {};
        if (!isBody(body)) {
          return await reply.code(400).send({ error: invalidBody.text, code: invalidBody.code });
        }
        const outcome = await ports.sessions.beat(caller, claimOf(body));
        if (outcome.kind !== 'accepted') return refuseHeartbeat(outcome, reply);
        const answer: HeartbeatAnswer = { heartbeat_id: outcome.id };
        return answer;
      });
    },
  };
}

/** POST /heartbeats: the same timer without a chain; a body is read and ignored (conventions.md part 5). */
export function bareHeartbeatRoute(ports: HeartbeatPorts): DoorRoute {
  return {
    method: 'POST',
    path: '/heartbeats',
    add(app, { url }) {
      const options = { bodyLimit: singleBodyMaxBytes, config: { invalid: invalidBody } };
      app.post(url, options, async (request, reply) => {
        const caller = authenticate(request, reply, ports);
        if (caller === null) return reply;
        const outcome = await ports.sessions.beat(caller, { kind: 'bare' });
        if (outcome.kind !== 'accepted') return refuseHeartbeat(outcome, reply);
        const answer: BareHeartbeatAnswer = { status: 'ok', heartbeat_id: outcome.id };
        return answer;
      });
    },
  };
}

/** An id that is no UUID is as wrong as an old one: the answer tells the right one. */
function claimOf({ heartbeat_id: text }: HeartbeatBody): HeartbeatClaim {
  if (text === undefined || text === null || text === '') return { kind: 'start' };
  return { kind: 'next', id: parseHeartbeatId(text) };
}

function refuseHeartbeat(
  outcome: Exclude<HeartbeatOutcome, { kind: 'accepted' }>,
  reply: FastifyReply,
): FastifyReply {
  if (outcome.kind === 'refused') return refuse(reply, outcome.code);
  const text = refusalText('invalid_heartbeat');
  const body = { error_msg: text, heartbeat_id: outcome.expected ?? '' };
  return refuse(reply, 'invalid_heartbeat', {}, { body });
}
