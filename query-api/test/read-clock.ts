import type { Clock } from '@pm/kit/clock';

/** Both clocks of a machine that agree. */
export function clockOf(nowMs: () => number): Clock {
  return { nowMs, monotonicMs: nowMs };
}
