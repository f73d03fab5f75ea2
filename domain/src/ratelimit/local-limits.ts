import { assert } from '@pm/kit/assert';
import { type RateRule, rateCost } from '@pm/schemas/rate-limits';
import type { CallerCounts, LimitTable, LocalCount } from './callers.ts';
import { type RuleResult, secondsUntil } from './verdict.ts';

/**
 * The rules counted in this process alone, while the store is unavailable: each process has its share of every limit,
 * so that requests are neither unlimited nor refused. Windows follow the monotonic clock of the process: a wall clock
 * that is set neither ends nor extends one.
 */
export class LocalLimits {
  readonly #limits: LimitTable;
  readonly #processes: number;

  constructor(limits: LimitTable, processes: number) {
    this.#limits = limits;
    this.#processes = processes;
  }

  /** Takes the cost of one request from all rules, or nothing. `nowMs`: monotonic milliseconds. */
  take(counts: CallerCounts, rules: readonly RateRule[], items: number, nowMs: number): RuleResult {
    const refusal = this.refusal(counts, rules, items, nowMs);
    if (refusal !== null) return refusal;
    let tightest: RuleResult | null = null;
    for (const rule of rules) {
      const verdict = this.#look(counts, rule, items, nowMs);
      const isTighter =
        tightest === null ||
        verdict.remaining * tightest.limit < tightest.remaining * verdict.limit;
      if (isTighter) tightest = verdict;
    }
    for (const rule of rules) countAt(counts, rule, nowMs).used += rateCost(rule, items);
    assert(tightest !== null, 'a limited route has rules');
    return tightest;
  }

  /** The first refusal; null when no rule refuses. Takes nothing. */
  refusal(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleResult | null {
    for (const rule of rules) {
      const verdict = this.#look(counts, rule, items, nowMs);
      if (!verdict.isAllowed) return verdict;
    }
    return null;
  }

  /** Undoes `take` within the window. */
  giveBack(counts: CallerCounts, rules: readonly RateRule[], items: number, nowMs: number): void {
    for (const rule of rules) {
      const count = countAt(counts, rule, nowMs);
      count.used = Math.max(0, count.used - rateCost(rule, items));
    }
  }

  /** Units of a rule used in its current window. */
  used(counts: CallerCounts, rule: RateRule, nowMs: number): number {
    return countAt(counts, rule, nowMs).used;
  }

  #look(counts: CallerCounts, rule: RateRule, items: number, nowMs: number): RuleResult {
    const limit = this.#shareOf(counts, rule);
    const { used, window } = countAt(counts, rule, nowMs);
    const left = limit - used - rateCost(rule, items);
    const resetSeconds = secondsUntil((window + 1) * rule.seconds * 1000, nowMs);
    const remaining = left < 0 ? Math.max(0, limit - used) : left;
    return { isAllowed: left >= 0, rule, limit, remaining, resetSeconds };
  }

  #shareOf({ caller }: CallerCounts, { place }: RateRule): number {
    return Math.max(1, Math.floor((this.#limits[caller.kind][place] ?? 1) / this.#processes));
  }
}

function countAt({ local }: CallerCounts, { place, seconds }: RateRule, nowMs: number): LocalCount {
  const window = Math.floor(nowMs / (seconds * 1000));
  const known = local[place];
  if (known?.window === window) return known;
  const fresh = { window, used: 0 };
  local[place] = fresh;
  return fresh;
}
