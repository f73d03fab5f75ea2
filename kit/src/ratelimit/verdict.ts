import type { RateRule } from '@pm/schemas';

/** Whether a request may go on, and the rule that says most about the next one: the tightest, or that which refused. */
export interface Verdict {
  readonly isAllowed: boolean;
  readonly rule: RateRule;
  readonly limit: number;
  /** Units left in the window as far as this process knows; other processes may have used some of them. */
  readonly remaining: number;
  /** Until the window ends, whole seconds, at least 1. */
  readonly resetSeconds: number;
}

/** Seconds until a time, rounded up, at least 1: whoever waits so long finds a new window. */
export function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((endsAtMs - nowMs) / 1000));
}
