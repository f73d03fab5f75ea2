import { claimsKey } from '@pm/domain/accounts/key-claim';
import type { DoorRoute } from '@pm/kit/http';
import { unproven } from '../door/caller.io.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute, signedFacts } from '../door/read-route.io.ts';

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
