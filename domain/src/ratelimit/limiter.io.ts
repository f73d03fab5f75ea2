import { assert } from '@pm/kit/assert';
import type { Clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';
import { type RateRule, rateCost, rateRules } from '@pm/schemas';
import {
  type Bucket,
  bucketAt,
  type Caller,
  type CallerCounts,
  type CallerKind,
  type LimitTable,
  SeenCallers,
} from './callers.ts';
import { LocalLimits } from './local-limits.ts';
import type { Granted, LimitStore, Want } from './store.io.ts';
import { type RuleVerdict, secondsUntil } from './verdict.ts';

export interface RateLimiterOptions {
  readonly store: LimitStore;
  readonly limits: LimitTable;
  /** Processes that serve the same door: they share the leases, and the limits while the store is away. */
  readonly processes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The part of a limit that all processes together may hold unused. Whoever takes one unit takes this much more, so that the
 * next requests need no store; what a process does not use before the window ends is lost to the others.
 */
export const leasedShare = 0.005;

/** While the store is away it is tried this often, by nobody's request. */
const tryAgainMs = 1_000;

/** What a rule of a caller has and what is left, for GET /rate-limits. */
export interface RuleUse {
  readonly rule: RateRule;
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetsAtMs: number;
}

/** One part of a request that is taken from what was leased before. */
interface Own {
  readonly bucket: Bucket;
  readonly window: number;
  readonly units: number;
}

/**
 * Counts requests against the rules. The counts are in the store, for all processes; this process leases small parts of each
 * window, so most requests of a large limit are answered without asking, and none asks twice. A refusal is known until the
 * window ends. No more than the limit is ever granted while the store answers; while it does not, `LocalLimits` decides.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #local: LocalLimits;
  readonly #seen: Readonly<Record<CallerKind, SeenCallers>> = {
    address: new SeenCallers('address'),
    key: new SeenCallers('key'),
    agent: new SeenCallers('agent'),
  };
  #isAway = false;
  #tryAtMs = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#local = new LocalLimits(options.limits, options.processes);
  }

  /** Whether the store answers; while it does not, every process counts alone. */
  get isShared(): boolean {
    return !this.#isAway;
  }

  get callers(): number {
    return Object.values(this.#seen).reduce((sum, seen) => sum + seen.size, 0);
  }

  /** Takes what a request costs from all rules, or nothing. Settled at once where nothing must be asked. Never rejects. */
  take(
    caller: Caller,
    rules: readonly RateRule[],
    items: number,
  ): RuleVerdict | Promise<RuleVerdict> {
    const counts = this.#seen[caller.kind].of(caller.id);
    if (this.#isAway) return this.#takeLocally(counts, rules, items);
    const nowMs = this.#options.clock.monotonicMs();
    return this.#settle(counts, rules, items, nowMs) ?? this.#ask(counts, rules, items, nowMs);
  }

  /** What one request costs, when it can be granted from what is at hand; null, with nothing taken, when it cannot. */
  takeAtOnce(caller: Caller, rules: readonly RateRule[]): RuleVerdict | null {
    if (this.#isAway) return null;
    const counts = this.#seen[caller.kind].of(caller.id);
    return this.#spend(counts, rules, 1, this.#options.clock.monotonicMs());
  }

  /** Whether this process knows that the caller has nothing left of the rules. Asks nobody and counts nothing. */
  isSpent(caller: Caller, rules: readonly RateRule[]): RuleVerdict | null {
    const counts = this.#seen[caller.kind].of(caller.id);
    return this.#refusal(counts, rules, 1, this.#options.clock.monotonicMs());
  }

  /** What the caller has and what is left, rule by rule. */
  async uses(caller: Caller): Promise<readonly RuleUse[]> {
    const { store, clock } = this.#options;
    const counts = this.#seen[caller.kind].of(caller.id);
    const known = this.#isAway ? null : await store.used(caller).catch(() => null);
    const nowMs = known?.nowMs ?? clock.nowMs();
    return rateRules.map((rule) => {
      const limit = this.#limitOf(counts, rule);
      const used = known?.used.get(rule.field) ?? 0;
      const counted = known === null ? this.#local.used(counts, rule, nowMs) : used;
      const windowMs = rule.seconds * 1000;
      const resetsAtMs = (Math.floor(nowMs / windowMs) + 1) * windowMs;
      return { rule, limit, remaining: Math.max(0, limit - counted), resetsAtMs };
    });
  }

  /** From what is at hand; null when the store must be asked. */
  #settle(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleVerdict | null {
    return this.#spend(counts, rules, items, nowMs) ?? this.#refusal(counts, rules, items, nowMs);
  }

  /**
   * Takes from what was leased; null, with nothing taken, when that is too little. Almost every request ends here, so it looks
   * at each bucket once and makes nothing but the verdict.
   */
  #spend(
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
    return this.#tightest(counts, rules, nowMs);
  }

  /** The refusal with the longest wait, when some rule is known to have too little left; null when none is. */
  #refusal(
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
      const limit = this.#limitOf(counts, rule);
      longest = { isAllowed: false, rule, limit, remaining: leased + remaining, resetSeconds };
    }
    return longest;
  }

  #tightest(counts: CallerCounts, rules: readonly RateRule[], nowMs: number): RuleVerdict {
    const limits = this.#options.limits[counts.caller.kind];
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

  async #ask(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    askedAtMs: number,
  ): Promise<RuleVerdict> {
    const own: Own[] = [];
    const wants: Want[] = [];
    for (const rule of rules) {
      const bucket = freshBucket(counts, rule, askedAtMs);
      const cost = rateCost(rule, items);
      const units = Math.min(bucket.leased, cost);
      bucket.leased -= units;
      own.push({ bucket, window: bucket.window, units });
      if (units < cost) wants.push(this.#want(counts, rule, { bucket, need: cost - units }));
    }
    const granted = await this.#options.store.take(counts.caller, wants).catch((error) => {
      this.#goLocal(error);
      return null;
    });
    for (const { rule } of wants) bucketAt(counts, rule.place).asking -= 1;
    if (granted === null) {
      giveBack(own);
      return this.#takeLocally(counts, rules, items);
    }
    note(counts, wants, granted, askedAtMs);
    const isGranted = granted.grants.every((grant, at) => grant.granted >= (wants[at]?.need ?? 0));
    if (isGranted) return this.#tightest(counts, rules, this.#options.clock.monotonicMs());
    giveBack(own);
    return this.#refused(counts, rules, items);
  }

  /** What the store refused. The window may have ended on the way; then the next request finds a new one. */
  #refused(counts: CallerCounts, rules: readonly RateRule[], items: number): RuleVerdict {
    const nowMs = this.#options.clock.monotonicMs();
    const refusal = this.#refusal(counts, rules, items, nowMs);
    if (refusal !== null) return refusal;
    return { ...this.#tightest(counts, rules, nowMs), isAllowed: false, resetSeconds: 1 };
  }

  /** Of several asks at once only the first leases more. */
  #want(
    counts: CallerCounts,
    rule: RateRule,
    { bucket, need }: { readonly bucket: Bucket; readonly need: number },
  ): Want {
    const limit = this.#limitOf(counts, rule);
    const lease = Math.floor((limit * leasedShare) / this.#options.processes);
    const more = bucket.asking === 0 ? Math.max(0, lease - need) : 0;
    bucket.asking += 1;
    return { rule, limit, need, more };
  }

  #limitOf({ caller }: CallerCounts, { place }: RateRule): number {
    return this.#options.limits[caller.kind][place] ?? 1;
  }

  #takeLocally(counts: CallerCounts, rules: readonly RateRule[], items: number): RuleVerdict {
    this.#tryStore();
    return this.#local.take(counts, rules, items, this.#options.clock.nowMs());
  }

  #goLocal(error: unknown): void {
    this.#tryAtMs = this.#options.clock.monotonicMs() + tryAgainMs;
    if (this.#isAway) return;
    this.#isAway = true;
    const reason = error instanceof Error ? error.message : 'unknown';
    this.#options.log.warn({ reason }, 'rate limits are counted in this process alone');
  }

  #tryStore(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#tryAtMs) return;
    this.#tryAtMs = nowMs + tryAgainMs;
    this.#options.store.reach().then(
      () => {
        this.#isAway = false;
        this.#options.log.info({}, 'rate limits are shared again');
      },
      () => {},
    );
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

/** Keeps what the store said. A window ends so long after the question was asked: earlier than in truth, never later. */
function note(
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

function giveBack(own: readonly Own[]): void {
  for (const { bucket, window, units } of own) {
    if (bucket.window === window) bucket.leased += units;
  }
}
