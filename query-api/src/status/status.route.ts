import { claimsKey } from '@pm/domain/accounts/key-claim';
import type { DoorRoute } from '@pm/kit/http';
import { unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute, sendAnswer, signedFacts } from '../door/read-route.io.ts';
import { wireStanding } from './progress.ts';

/**
 * GET /status. At the root: how far each projection is complete (conventions.md 1.16). Under the mounts: the plain text that
 * clients of the family take for health; with quotes it would not be.
 */
export function statusRoute({ standing }: Pick<ReadPorts, 'standing'>): DoorRoute {
  return {
    method: 'GET',
    path: '/status',
    add(app, { url, mount }) {
      app.get(url, (_request, reply) =>
        mount === null
          ? sendAnswer(reply, wireStanding(standing.standing()), 'gamma')
          : reply.type('text/plain; charset=utf-8').send('OK'),
      );
    },
  };
}

/** GET /rate-limits: every bucket of the caller: of his key when he proves one, else of his address (limits.md). */
export function rateLimitsRoute({
  callers,
  limits,
  nowMs,
}: Pick<ReadPorts, 'callers' | 'limits' | 'nowMs'>): DoorRoute {
  const route = { method: 'GET', path: '/rate-limits', family: 'clob' } as const;
  return readRoute(route, async ({ raw }) => {
    if (!claimsKey(raw.headers)) return await limits.ofAddress(raw.ip);
    const reader = callers.verify(signedFacts(raw));
    if (reader === null) return unproven({ callers, nowMs }, raw);
    // Who shows a read-only key is counted for his address.
    return await (reader.apiKey === null ? limits.ofAddress(raw.ip) : limits.ofKey(reader.apiKey));
  });
}
