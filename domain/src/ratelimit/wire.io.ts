import { coveredRoutes, type RateLimitsAnswer } from '@pm/schemas';
import { type Caller, countedAddress } from './callers.ts';
import type { RateLimiter } from './limiter.io.ts';

/** The reads of GET /rate-limits. */
export interface RateLimitReads {
  ofAddress(address: string): Promise<RateLimitsAnswer>;
  ofKey(apiKey: string): Promise<RateLimitsAnswer>;
}

/** `limiter`: null when requests are not limited; the list is empty then. */
export function rateLimitReads(limiter: RateLimiter | null): RateLimitReads {
  return {
    ofAddress: (address) => answerFor(limiter, { kind: 'address', id: countedAddress(address) }),
    ofKey: (id) => answerFor(limiter, { kind: 'key', id }),
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
  };
}
