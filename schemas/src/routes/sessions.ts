import { HeartbeatError } from '../http/error-bodies.ts';
import { sample } from '../http/forms.ts';
import { BareHeartbeatResponse, HeartbeatBody, HeartbeatResponse } from '../http/sessions.ts';
import { route } from './route.ts';

const beat = {
  service: 'ingress',
  family: 'clob',
  auth: ['l2'],
  method: 'POST',
  limits: ['reserve', 'heartbeats'],
  repetition: 'brief',
  bodyIsOptional: true,
} as const;
const refused = {
  400: { description: 'Another id is expected; the body names it.', schema: HeartbeatError },
} as const;

/** Heartbeats (conventions.md 3.16). The unchained one comes first, as its scope of limits names them. */
export const sessionRoutes = {
  beatUnchained: route({
    ...beat,
    path: '/heartbeats',
    summary: 'Keep the session of the key alive',
    description: 'A body is ignored. The chain of ids is not advanced.',
    responses: {
      200: { description: 'The current id of the chain.', schema: BareHeartbeatResponse },
      ...refused,
    },
    examples: [{ response: { status: 'ok', heartbeat_id: sample.apiKey } }],
  }),
  beat: route({
    ...beat,
    path: '/v1/heartbeats',
    summary: 'The next heartbeat of the session of the key',
    description:
      'The first one arms the cancel on silence of this key, whichever process sends the next ones: one key for each process.',
    body: HeartbeatBody,
    responses: {
      200: { description: 'The id that the next heartbeat names.', schema: HeartbeatResponse },
      ...refused,
    },
    examples: [{ body: { heartbeat_id: '' }, response: { heartbeat_id: sample.apiKey } }],
  }),
} as const;
