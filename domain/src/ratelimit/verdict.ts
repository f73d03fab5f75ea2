import type { Verdict } from '@pm/kit/http';
import type { RateRule } from '@pm/schemas';

/** Whether a request may go on, and the rule that says most about the next one: the tightest, or that which refused. */
export interface RuleVerdict extends Verdict {
  readonly rule: RateRule;
}

/** Seconds until a time, rounded up, at least 1: whoever waits so long finds a new window. */
export function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));
}
