import type { RateRule } from '@pm/schemas/rate-limits';

/**
 * Whether a request may go on (a `Verdict` of `@pm/kit/http`), and the rule to report: the tightest, or the one that
 * refused.
 */
export interface RuleResult {
  readonly isAllowed: boolean;
  readonly rule: RateRule;
  readonly limit: number;
  /** Units left in the window as far as this process knows. */
  readonly remaining: number;
  /** Until the window ends, whole seconds, at least 1. */
  readonly resetSeconds: number;
}

/** Seconds until a time, rounded up, at least 1: a caller that waits so long finds a new window. */
export function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));
}
