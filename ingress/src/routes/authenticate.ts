import { refuse } from '@pm/kit/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../core/check-order.ts';
import type { DoorPorts } from './ports.ts';

type AuthPorts = Pick<DoorPorts, 'clock' | 'verify'>;

/** Proves the API key of a private request; null after the refusal was sent (docs/conventions.md 2.3). */
export function authenticate(
  request: FastifyRequest,
  reply: FastifyReply,
  { clock, verify }: AuthPorts,
): Caller | null {
  const { method, url, headers, rawBody: body } = request;
  const holder = verify({ method, url, headers, body });
  if (holder !== null) {
    const { arrivedAtMs } = request;
    return { apiKey: holder.apiKey, address: holder.wallet, nowMs: clock.nowMs(), arrivedAtMs };
  }
  refuse(reply, 'invalid_l2');
  return null;
}
