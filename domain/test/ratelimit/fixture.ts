import { silentLog } from '@pm/kit/log';
import { type RateRule, rateCost, rateRulesOf } from '@pm/schemas/rate-limits';
import type { HttpRoute } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';
import { type Caller, limitTable } from '../../src/ratelimit/callers.ts';
import type { LimitStore } from '../../src/ratelimit/limiter.io.ts';
import { RateLimiter } from '../../src/ratelimit/limiter.io.ts';

/** A clock that the test moves; wall and monotonic time differ, as on a machine. */
export class TestClock {
  #ms = Date.UTC(2026, 5, 1, 12, 0, 0);
  nowMs = () => this.#ms;
  monotonicMs = () => this.#ms - 1_700_000_000_000;
  pass(ms: number): void {
    this.#ms += ms;
  }
}

export function openLimiter(store: LimitStore, clock: TestClock, processes = 1): RateLimiter {
  return new RateLimiter({
    store,
    limits: limitTable(1, { agent: 2, wallet: 2, network: 4, unfunded: 0.1 }),
    processes,
    clock,
    log: silentLog,
  });
}

export function rulesFor(method: string, path: string): readonly RateRule[] {
  const table: readonly HttpRoute[] = routes;
  const route = table.find((one) => one.method === method && one.path === path);
  if (route === undefined) throw new Error(`no route ${method} ${path}`);
  return rateRulesOf(route);
}

/** Accepted units by caller, rule and window. */
export class Tally {
  readonly counts = new Map<string, number>();

  add(
    caller: Caller,
    rules: readonly RateRule[],
    { items, nowMs }: { items: number; nowMs: number },
  ) {
    for (const rule of rules) {
      const window = Math.floor(nowMs / (rule.seconds * 1000));
      const name = `${caller.kind}:${caller.id} ${rule.field} ${window}`;
      this.counts.set(name, (this.counts.get(name) ?? 0) + rateCost(rule, items));
    }
  }

  of(caller: Caller, field: string, window: number): number {
    return this.counts.get(`${caller.kind}:${caller.id} ${field} ${window}`) ?? 0;
  }
}
