import { assert } from '@pm/kit/assert';
import { type RateRule, rateCost } from '@pm/schemas/rate-limits';
import { type Bucket, bucketAt, type CallerCounts, type LimitTable } from './callers.ts';
import { type RuleResult, secondsUntil } from './verdict.ts';

/**
 * The part of a limit that all processes together may lease unused. A process that takes one unit takes this much
 * more, so that the next requests need no store; units not used before the window ends are lost to the others.
 */
export const leasedShare = 0.005;

/** Units wanted of one rule: `need` or nothing, and up to `more` to use later in the same window. */
export interface Want {
  readonly rule: RateRule;
  /** The caller's limit of this rule. */
  readonly limit: number;
  readonly need: number;
  readonly more: number;
}

/**
 * Name of a count in the store. The limit is a part of it: processes with different limits count apart, or the lease of
 * one could be the whole limit of another.
 */
export function countName({ field }: RateRule, limit: number): string {
  return `${field}@${limit}`;
}

/** Units granted of one rule: nothing of all rules, or at least `need` of each. */
export interface Grant {
  readonly granted: number;
  /** Units left in the window for all processes, after this grant. */
  readonly remaining: number;
}

export interface Granted {
  /** The clock of the store, Unix milliseconds; windows are counted by it. */
  readonly nowMs: number;
  /** One grant for each want, in order. */
  readonly grants: readonly Grant[];
}

/** The units of a request: leased before, or wanted from the store. */
export interface Draw {
  readonly own: readonly Own[];
  readonly wants: readonly Want[];
}

/** Units of a request that are taken from a lease. */
interface Own {
  readonly bucket: Bucket;
  readonly window: number;
  readonly units: number;
}

/**
 * The units that this process has leased of the store's windows. It decides requests without the store where
 * possible, and says which units must be requested. All times are monotonic milliseconds, except `Granted.nowMs`.
 */
export class Leases {
  readonly #limits: LimitTable;
  readonly #processes: number;

  constructor(limits: LimitTable, processes: number) {
    this.#limits = limits;
    this.#processes = processes;
  }

  limitOf({ caller }: CallerCounts, { place }: RateRule): number {
    return this.#limits[caller.kind][place] ?? 1;
  }

  /**
   * Takes leased units; null, with nothing taken, when they are too few. Almost every request ends here, so it reads
   * each bucket once and allocates only the verdict.
   */
  spend(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleResult | null {
    for (const rule of rules) {
      const { endsAtMs, leased } = bucketAt(counts, rule.place);
      if (endsAtMs <= nowMs || leased < rateCost(rule, items)) return null;
    }
    for (const rule of rules) bucketAt(counts, rule.place).leased -= rateCost(rule, items);
    return this.tightest(counts, rules, nowMs);
  }

  /** The refusal with the longest wait, when some rule is known to have too little left; null when none is. */
  refusal(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleResult | null {
    let longest: RuleResult | null = null;
    for (const rule of rules) {
      const { endsAtMs, leased, remaining } = bucketAt(counts, rule.place);
      if (endsAtMs <= nowMs || leased + remaining >= rateCost(rule, items)) continue;
      const resetSeconds = secondsUntil(endsAtMs, nowMs);
      if (longest !== null && longest.resetSeconds >= resetSeconds) continue;
      const limit = this.limitOf(counts, rule);
      longest = { isAllowed: false, rule, limit, remaining: leased + remaining, resetSeconds };
    }
    return longest;
  }

  /** The verdict of a request that may go on, by the rule with the smallest part left. */
  tightest(counts: CallerCounts, rules: readonly RateRule[], nowMs: number): RuleResult {
    const limits = this.#limits[counts.caller.kind];
    let found: RateRule | null = null;
    let tightest: Bucket | null = null;
    let [share, limit] = [Number.POSITIVE_INFINITY, 1];
    for (const rule of rules) {
      const bucket = bucketAt(counts, rule.place);
      const limitOfRule = limits[rule.place] ?? 1;
      const left = (bucket.leased + bucket.remaining) / limitOfRule;
      if (left >= share) continue;
      found = rule;
      tightest = bucket;
      share = left;
      limit = limitOfRule;
    }
    assert(found !== null && tightest !== null, 'a limited route has rules');
    return {
      isAllowed: true,
      rule: found,
      limit,
      remaining: tightest.leased + tightest.remaining,
      resetSeconds: secondsUntil(tightest.endsAtMs, nowMs),
    };
  }

  /** Takes what is leased of each rule and says what is missing. `giveBack` undoes it. */
  draw(counts: CallerCounts, rules: readonly RateRule[], items: number, nowMs: number): Draw {
    const own: Own[] = [];
    const wants: Want[] = [];
    for (const rule of rules) {
      const bucket = freshBucket(counts, rule, nowMs);
      const cost = rateCost(rule, items);
      const units = Math.min(bucket.leased, cost);
      bucket.leased -= units;
      own.push({ bucket, window: bucket.window, units });
      if (units < cost) wants.push(this.#want(counts, rule, { bucket, need: cost - units }));
    }
    return { own, wants };
  }

  /**
   * Units of a rule that the store is asked for. When several requests are in flight, only the first one leases more
   * units than it needs.
   */
  #want(
    counts: CallerCounts,
    rule: RateRule,
    { bucket, need }: { readonly bucket: Bucket; readonly need: number },
  ): Want {
    const limit = this.limitOf(counts, rule);
    const lease = Math.floor((limit * leasedShare) / this.#processes);
    const more = bucket.asking === 0 ? Math.max(0, lease - need) : 0;
    bucket.asking += 1;
    return { rule, limit, need, more };
  }
}

/** The bucket of a rule, emptied when its window is over: its leased units are void. */
function freshBucket(counts: CallerCounts, { place }: RateRule, nowMs: number): Bucket {
  const bucket = bucketAt(counts, place);
  if (bucket.endsAtMs > nowMs) return bucket;
  bucket.window = -1;
  bucket.leased = 0;
  bucket.remaining = 0;
  return bucket;
}

/**
 * Stores the granted units. The end of a window is counted from the time of the request: earlier than the true end,
 * never later.
 */
export function note(
  counts: CallerCounts,
  wants: readonly Want[],
  { nowMs, grants }: Granted,
  askedAtMs: number,
): void {
  wants.forEach(({ rule, need }, at) => {
    const { granted, remaining } = grants[at] ?? { granted: 0, remaining: 0 };
    const windowMs = rule.seconds * 1000;
    const window = Math.floor(nowMs / windowMs);
    const endsAtMs = askedAtMs + (window + 1) * windowMs - nowMs;
    const bucket = bucketAt(counts, rule.place);
    if (bucket.window > window) return;
    const isNew = bucket.window < window;
    bucket.leased = (isNew ? 0 : bucket.leased) + Math.max(0, granted - need);
    bucket.remaining = isNew ? remaining : Math.min(bucket.remaining, remaining);
    bucket.endsAtMs = isNew ? endsAtMs : Math.max(bucket.endsAtMs, endsAtMs);
    bucket.window = window;
  });
}

/** Returns the units of a request that was taken at or after `sinceMs`, as a lease, if its windows still run. */
export function returnUnits(
  counts: CallerCounts,
  rules: readonly RateRule[],
  items: number,
  { sinceMs, nowMs }: { readonly sinceMs: number; readonly nowMs: number },
): void {
  for (const rule of rules) {
    const bucket = bucketAt(counts, rule.place);
    const beganAtMs = bucket.endsAtMs - rule.seconds * 1000;
    if (beganAtMs <= sinceMs && bucket.endsAtMs > nowMs) bucket.leased += rateCost(rule, items);
  }
}

/** Returns drawn units to windows that still run. */
export function giveBack(own: readonly Own[]): void {
  for (const { bucket, window, units } of own) {
    if (bucket.window === window) bucket.leased += units;
  }
}
