import { coveredRoutes, type RateLimitsAnswer, rateScopes, streamLimits } from '@pm/schemas';
import { type Caller, countedAddress } from './callers.ts';
import type { RateLimiter } from './limiter.io.ts';

/** The reads of GET /rate-limits. */
export interface RateLimitReads {
  ofAddress(address: string): Promise<RateLimitsAnswer>;
  /** With the buckets of the address in the scopes that are counted by address. */
  ofKey(apiKey: string, address: string): Promise<RateLimitsAnswer>;
}

const byAddress: ReadonlySet<string> = new Set(
  rateScopes.flatMap(({ name, isByAddress }) => (isByAddress === true ? [name] : [])),
);

/** `limiter`: null when requests are not limited; the list is empty then. */
export function rateLimitReads(limiter: RateLimiter | null): RateLimitReads {
  return {
    ofAddress: (address) => answerFor(limiter, { kind: 'address', id: countedAddress(address) }),
    ofKey: async (id, address) => {
      const client = { kind: 'address', id: countedAddress(address) } as const;
      const own = await answerFor(limiter, { kind: 'key', id });
      const shared = await answerFor(limiter, client);
      const limits = own.limits.map((one, place) =>
        byAddress.has(one.scope) ? (shared.limits[place] ?? one) : one,
      );
      return { ...own, limits };
    },
  };
}

async function answerFor(limiter: RateLimiter | null, caller: Caller): Promise<RateLimitsAnswer> {
  const uses = (await limiter?.uses(caller)) ?? [];
  return {
    caller: caller.kind,
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
