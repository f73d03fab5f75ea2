import type { Clock } from '@pm/kit/clock';
import type { Log } from '@pm/kit/log';
import { type RateRule, rateRules } from '@pm/schemas/rate-limits';
import {
  bucketAt,
  type Caller,
  type CallerCounts,
  type CallerKind,
  type LimitTable,
  SeenCallers,
} from './callers.ts';
import {
  countName,
  type Granted,
  giveBack,
  Leases,
  note,
  returnUnits,
  type Want,
} from './leases.ts';
import { isLimitsFull } from './limits-full.ts';
import { LocalLimits } from './local-limits.ts';
import type { RuleResult } from './verdict.ts';

/** The counts shared by all processes. Every method rejects when the store is unavailable. */
export interface LimitStore {
  /**
   * Takes all wants of one request in one atomic step: all of them or none. Rejects with `limits_full` when there is no
   * room to count the caller.
   */
  take(caller: Caller, wants: readonly Want[]): Promise<Granted>;
  /** Units used in the current window, by `countName`; a missing name is unused. */
  used(
    caller: Caller,
  ): Promise<{ readonly nowMs: number; readonly used: ReadonlyMap<string, number> }>;
  /** Resolves when the store answers. */
  reach(): Promise<void>;
}

export interface RateLimiterOptions {
  readonly store: LimitStore;
  readonly limits: LimitTable;
  /** Processes that serve the same routes: they share the leases, and the limits while the store is unavailable. */
  readonly processes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Interval of attempts to reach an unavailable store; no request waits for them. */
const tryAgainMs = 1_000;

/** Limit of a rule and the units left for a caller, for GET /rate-limits. */
export interface RuleUse {
  readonly rule: RateRule;
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetsAtMs: number;
}

/**
 * Counts requests against the rules. The counts are in the store, for all processes; this process leases small parts
 * of each window, so most requests of a large limit need no request to the store, and none needs two. A refusal is
 * remembered until the window ends. No more than the limit is ever granted while the store answers; while it does
 * not, `LocalLimits` decides.
 */
export class RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #leases: Leases;
  readonly #local: LocalLimits;
  readonly #seen: Readonly<Record<CallerKind, SeenCallers>> = {
    address: new SeenCallers('address'),
    key: new SeenCallers('key'),
    agent: new SeenCallers('agent'),
    wallet: new SeenCallers('wallet'),
    network: new SeenCallers('network'),
    unfunded: new SeenCallers('unfunded'),
    claim: new SeenCallers('claim'),
  };
  #isAway = false;
  #uncounted = 0;
  #tryAtMs = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#leases = new Leases(options.limits, options.processes);
    this.#local = new LocalLimits(options.limits, options.processes);
  }

  /** Whether the store answers; while it does not, every process counts alone. */
  get isShared(): boolean {
    return !this.#isAway;
  }

  /** Requests of callers for whom the store had no room, which were counted in this process alone. */
  get uncounted(): number {
    return this.#uncounted;
  }

  get callers(): number {
    return Object.values(this.#seen).reduce((sum, seen) => sum + seen.size, 0);
  }

  /**
   * Takes the cost of a request from all rules, or nothing. Returns a value when the store is not needed. Never
   * rejects.
   */
  take(
    caller: Caller,
    rules: readonly RateRule[],
    items: number,
  ): RuleResult | Promise<RuleResult> {
    const counts = this.#seen[caller.kind].of(caller.id);
    if (this.#isAway) return this.#takeLocally(counts, rules, items);
    const nowMs = this.#options.clock.monotonicMs();
    return this.#settle(counts, rules, items, nowMs) ?? this.#ask(counts, rules, items, nowMs);
  }

  /** Takes the cost of one request from leased units; null, with nothing taken, when they are too few. */
  takeAtOnce(caller: Caller, rules: readonly RateRule[]): RuleResult | null {
    if (this.#isAway) return null;
    const counts = this.#seen[caller.kind].of(caller.id);
    return this.#leases.spend(counts, rules, 1, this.#options.clock.monotonicMs());
  }

  /** The refusal, when this process knows that the caller has too little left of the rules. Counts nothing. */
  isSpent(caller: Caller, rules: readonly RateRule[], items = 1): RuleResult | null {
    const counts = this.#seen[caller.kind].find(caller.id);
    if (counts === undefined) return null;
    if (this.#isAway)
      return this.#local.refusal(counts, rules, items, this.#options.clock.monotonicMs());
    return this.#leases.refusal(counts, rules, items, this.#options.clock.monotonicMs());
  }

  /** Undoes a `take` that was asked for at `sinceMs` (`nowMs`), for as long as its windows run. */
  giveBack(
    { caller, rules }: { readonly caller: Caller; readonly rules: readonly RateRule[] },
    items: number,
    sinceMs: number,
  ): void {
    const counts = this.#seen[caller.kind].of(caller.id);
    if (this.#isAway) this.#local.giveBack(counts, rules, items, this.#options.clock.monotonicMs());
    else returnUnits(counts, rules, items, { sinceMs, nowMs: this.nowMs() });
  }

  /** The clock of leases, monotonic milliseconds. */
  nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  /** Limit and units left of the caller, rule by rule. */
  async uses(caller: Caller): Promise<readonly RuleUse[]> {
    const { store, clock } = this.#options;
    const counts = this.#seen[caller.kind].of(caller.id);
    const known = this.#isAway ? null : await store.used(caller).catch(() => null);
    const monotonicMs = clock.monotonicMs();
    const wallMs = known?.nowMs ?? clock.nowMs();
    const countedMs = known?.nowMs ?? monotonicMs;
    return rateRules.map((rule) => {
      const limit = this.#leases.limitOf(counts, rule);
      const used = known?.used.get(countName(rule, limit)) ?? 0;
      const counted = known === null ? this.#local.used(counts, rule, monotonicMs) : used;
      const windowMs = rule.seconds * 1000;
      const resetsAtMs = wallMs + windowMs - (countedMs % windowMs);
      return { rule, limit, remaining: Math.max(0, limit - counted), resetsAtMs };
    });
  }

  /** The verdict without the store; null when the store is needed. */
  #settle(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    nowMs: number,
  ): RuleResult | null {
    return (
      this.#leases.spend(counts, rules, items, nowMs) ??
      this.#leases.refusal(counts, rules, items, nowMs)
    );
  }

  async #ask(
    counts: CallerCounts,
    rules: readonly RateRule[],
    items: number,
    askedAtMs: number,
  ): Promise<RuleResult> {
    const { own, wants } = this.#leases.draw(counts, rules, items, askedAtMs);
    const granted = await this.#options.store.take(counts.caller, wants).catch((error) => {
      if (isLimitsFull(error)) return 'full' as const;
      this.#goLocal(error);
      return null;
    });
    for (const { rule } of wants) bucketAt(counts, rule.place).asking -= 1;
    if (granted === null || granted === 'full') giveBack(own);
    if (granted === null) return this.#takeLocally(counts, rules, items);
    if (granted === 'full') {
      this.#uncounted += 1;
      return this.#local.take(counts, rules, items, this.#options.clock.monotonicMs());
    }
    note(counts, wants, granted, askedAtMs);
    const isGranted = granted.grants.every((grant, at) => grant.granted >= (wants[at]?.need ?? 0));
    if (isGranted) return this.#leases.tightest(counts, rules, this.#options.clock.monotonicMs());
    giveBack(own);
    return this.#refused(counts, rules, items);
  }

  /**
   * The verdict of a refusal by the store. The window may have ended meanwhile; then the next request has a new one.
   */
  #refused(counts: CallerCounts, rules: readonly RateRule[], items: number): RuleResult {
    const nowMs = this.#options.clock.monotonicMs();
    const refusal = this.#leases.refusal(counts, rules, items, nowMs);
    if (refusal !== null) return refusal;
    return { ...this.#leases.tightest(counts, rules, nowMs), isAllowed: false, resetSeconds: 1 };
  }

  #takeLocally(counts: CallerCounts, rules: readonly RateRule[], items: number): RuleResult {
    this.#tryStore();
    return this.#local.take(counts, rules, items, this.#options.clock.monotonicMs());
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
