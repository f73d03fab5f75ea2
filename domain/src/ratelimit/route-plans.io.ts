import type { MetricDeclarations, Metrics } from '@pm/kit/metrics';
import { type RateRule, rateGroupOf, rateRulesOf } from '@pm/schemas/rate-limits';
import { type HttpRoute, urlsOf } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';

/** Requests by the scope of the rate limits. */
export const limitMetrics = {
  allowed: {
    type: 'counter',
    name: 'pm_rate_allowed_total',
    help: 'Requests that a scope of the rate limits let pass.',
    labels: ['scope'],
  },
  limited: {
    type: 'counter',
    name: 'pm_rate_limited_total',
    help: 'Requests refused, by the scope of the rate limits that refused them.',
    labels: ['scope'],
  },
} as const satisfies MetricDeclarations;

/** Read at each scrape. */
export const limitReadings = {
  alone: {
    type: 'gauge',
    name: 'pm_rate_counted_alone',
    help: 'One while this process counts rate limits alone because their Redis is not there.',
  },
  uncounted: {
    type: 'gauge',
    name: 'pm_rate_uncounted_requests',
    help: 'Requests since the start of callers for whom the Redis of the rate limits had no room.',
  },
} as const satisfies MetricDeclarations;

/** Precomputed facts for the hooks of a route. */
export interface Plan {
  readonly rules: readonly RateRule[];
  /** The rules that count a proven caller, and those that count its address all the same. */
  readonly callerRules: readonly RateRule[];
  readonly addressRules: readonly RateRule[];
  /** The rules that count it for all wallets without money at its address, if its own is one. */
  readonly unfundedRules: readonly RateRule[];
  /** Not refused for proofs that failed: cancels and heartbeats. */
  readonly isReserve: boolean;
  /** GET has no body, so that proofs can be checked before anything is read. */
  readonly isBodyless: boolean;
  allowed(): void;
  limited(scope: string): void;
}

/** Every public route by the URLs it is served under. */
export function plansOf(metrics: Metrics | undefined): ReadonlyMap<string, Plan> {
  const counters = metrics === undefined ? null : metrics.open(limitMetrics);
  const plans = new Map<string, Plan>();
  for (const route of routes as readonly HttpRoute[]) {
    const rules = rateRulesOf(route);
    const scopes = [...new Set(rules.map((rule) => rule.scope.name))];
    const counts = scopes.map((scope) => counters?.allowed.bind({ scope }) ?? (() => {}));
    const plan: Plan = {
      rules,
      callerRules: rules.filter(({ scope }) => scope.countedFor !== 'address'),
      addressRules: rules.filter(({ scope }) => scope.countedFor === 'address'),
      unfundedRules: rules.filter(({ scope }) => scope.hasUnfundedPart),
      isReserve: rateGroupOf(route) === 'reserve',
      isBodyless: route.method === 'GET',
      allowed: () => {
        for (const count of counts) count();
      },
      limited: (scope) => counters?.limited.add(1, { scope }),
    };
    for (const { url } of urlsOf(route)) plans.set(`${route.method} ${url}`, plan);
  }
  return plans;
}
