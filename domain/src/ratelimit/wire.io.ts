import type { RateLimitsResponse } from '@pm/schemas/http/rate-limits';
import { coveredRoutes, rateScopes } from '@pm/schemas/rate-limits';
import { streamLimits } from '@pm/schemas/streams/limits';
import { type Caller, claimOf } from './callers.ts';
import type { RateLimiter } from './limiter.io.ts';

/** The reads of GET /rate-limits, by the counted address of the caller. */
export interface RateLimitReads {
  ofAddress(address: string): Promise<RateLimitsResponse>;
  /** With the buckets of the address, and of the key at the address, in the scopes that are counted for those. */
  ofKey(apiKey: string, address: string): Promise<RateLimitsResponse>;
}

const countedFor = new Map(rateScopes.map((scope) => [scope.name, scope.countedFor]));

/** `limiter`: null when requests are not limited; the list is empty then. */
export function rateLimitReads(limiter: RateLimiter | null): RateLimitReads {
  return {
    ofAddress: (address) => answerFor(limiter, { kind: 'address', id: address }),
    ofKey: async (id, address) => {
      const client = { kind: 'address', id: address } as const;
      const own = await answerFor(limiter, { kind: 'key', id });
      const shared = await answerFor(limiter, client);
      const claimed = await answerFor(limiter, claimOf(client, id));
      const limits = own.limits.map((one, place) => {
        const counted = countedFor.get(one.scope);
        if (counted === undefined) return one;
        return (counted === 'claim' ? claimed : shared).limits[place] ?? one;
      });
      return { ...own, limits };
    },
  };
}

async function answerFor(limiter: RateLimiter | null, caller: Caller): Promise<RateLimitsResponse> {
  const all = (await limiter?.uses(caller)) ?? [];
  const uses = all.filter(({ rule }) => rule.scope.countedFor !== 'wallet');
  return {
    caller: caller.kind === 'address' || caller.kind === 'agent' ? caller.kind : 'key',
    enabled: limiter !== null,
    limits: uses.map(({ rule, limit, remaining, resetsAtMs }) => ({
      scope: rule.scope.name,
      routes: [...coveredRoutes(rule.scope)],
      unit: rule.scope.unit,
      window_seconds: rule.seconds,
      limit,
      remaining,
      resets_at: Math.floor(resetsAtMs / 1000),
    })),
    streams: streamLimits,
  };
}
