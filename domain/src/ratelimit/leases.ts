import { assert } from '@pm/kit/assert';
import { type RateRule, rateCost } from '@pm/schemas';
import { type Bucket, bucketAt, type CallerCounts, type LimitTable } from './callers.ts';
import { type RuleVerdict, secondsUntil } from './verdict.ts';

/**
 * The part of a limit that all processes together may hold unused. Whoever takes one unit takes this much more, so that the
 * next requests need no store; what a process does not use before the window ends is lost to the others.
 */
export const leasedShare = 0.005;

/** What is wanted of one rule: `need` or nothing, and up to `more` on top to use later in the same window. */
export interface Want {
  readonly rule: RateRule;
  /** The caller's limit of this rule. */
  readonly limit: number;
  readonly need: number;
  readonly more: number;
}

/** What a rule gave: nothing to any of them, or at least `need` to each. */
export interface Grant {
  readonly granted: number;
  /** What is left in the window for everybody, after this. */
  readonly remaining: number;
}

export interface Granted {
  /** The clock of the store, Unix milliseconds; windows are counted by it. */
  readonly nowMs: number;
  /** One for each want, in order. */
  readonly grants: readonly Grant[];
}

/** What a request takes: units leased before, and what must be asked of the store. */
export interface Draw {
  readonly own: readonly Own[];
  readonly wants: readonly Want[];
}

/** One part of a request that is taken from what was leased before. */
interface Own {
  readonly bucket: Bucket;
  readonly window: number;
  readonly units: number;
}

/**
 * The units that this process has leased of the windows of the store, without the store: what a request can be granted or refused by
 * what is known, and what must be asked. All times are monotonic milliseconds, but `Granted.nowMs`.
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
   * Takes from what was leased; null, with nothing taken, when that is too little. Almost every request ends here, so it looks
   * at each bucket once and makes nothing but the verdict.
   */
  spend(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleVerdict | null {
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
  ): RuleVerdict | null {
    let longest: RuleVerdict | null = null;
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
  tightest(counts: CallerCounts, rules: readonly RateRule[], nowMs: number): RuleVerdict {
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

  /** Of several asks at once only the first leases more. */
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

/** The bucket of a rule, emptied when its window is over: what was leased in it is worth nothing any more. */
function freshBucket(counts: CallerCounts, { place }: RateRule, nowMs: number): Bucket {
  const bucket = bucketAt(counts, place);
  if (bucket.endsAtMs > nowMs) return bucket;
  bucket.window = -1;
  bucket.leased = 0;
  bucket.remaining = 0;
  return bucket;
}

/** Keeps what the store granted. A window ends so long after the question was asked: earlier than in truth, never later. */
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

/** Returns drawn units to windows that still run. */
export function giveBack(own: readonly Own[]): void {
  for (const { bucket, window, units } of own) {
    if (bucket.window === window) bucket.leased += units;
  }
}
