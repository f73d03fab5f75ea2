/** Times of claims, milliseconds. */
export interface ClaimRules {
  /** Silence of the owner after which a replica claims its partition. */
  readonly silenceMs: number;
  /** After it is live, and after each claim, a preferred replica waits so long before it claims from a living owner. */
  readonly settleMs: number;
  /** Time at the bound of what a standby keeps, without a copy seen, after which it claims without having read all. */
  readonly blockedMs: number;
}

/** Own outputs wait so long, and none is seen stored, until a replica claims from an owner that ticks, milliseconds. */
export const unstoredMaxMs = 2_500;

/** The owner of a partition, by the records that were applied; `none` before the first claim. */
export type Ownership = 'none' | 'resigned' | 'here' | 'elsewhere';

/** A replica at one moment; milliseconds of the policy's clock. */
export interface ClaimView {
  readonly nowMs: number;
  /** When the newest fetch began, if it left nothing that is not applied by now; -Infinity otherwise. */
  readonly readThroughMs: number;
  readonly ownership: Ownership;
  /** Whether the replica is placed first. */
  readonly isPreferred: boolean;
  /** Since when the replica has had no room for outputs and seen no copy; Infinity while it has room. */
  readonly blockedSinceMs: number;
  /** Since when own outputs have waited, and no copy of one was seen; Infinity while none waits. */
  readonly unstoredSinceMs: number;
}

/**
 * Decides when a replica claims its partition. A claim that is wrong harms nothing, since the log decides: it moves a
 * partition that need not have moved. Times are milliseconds of one monotonic clock.
 */
export class ClaimPolicy {
  readonly #rules: ClaimRules;
  readonly #liveMs: number;
  #heardMs: number;
  #changedMs: number;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** Whether the owner has stored nothing since it claimed. */
  #isUnproven = false;

  /** `silentForMs`: how long the owner seems to have been silent when the replica became live, at `liveMs`. */
  constructor(rules: ClaimRules, liveMs: number, silentForMs: number) {
    this.#rules = rules;
    this.#liveMs = liveMs;
    this.#changedMs = liveMs;
    this.#heardMs = liveMs - Math.min(Math.max(0, silentForMs), rules.silenceMs);
  }

  /** A tick or claim of an owner took effect. */
  heard(nowMs: number): void {
    this.#heardMs = nowMs;
  }

  /** The partition has another owner. */
  changed(nowMs: number): void {
    this.#heardMs = nowMs;
    this.#changedMs = nowMs;
    this.#isUnproven = true;
  }

  /** The owner has stored an output. */
  stored(): void {
    this.#isUnproven = false;
  }

  /** A claim was sent: the next one is due when this one has been lost. */
  sent(nowMs: number): void {
    this.#sentMs = nowMs;
  }

  isDue(view: ClaimView): boolean {
    const { nowMs, blockedSinceMs } = view;
    if (!this.#mayClaim(view)) return false;
    if (nowMs - blockedSinceMs >= this.#rules.blockedMs) return true;
    return this.#isSilent(view) || this.#isFree(view);
  }

  /**
   * Whether the owner ticks and stores nothing, as far as this replica has read, which has read all of `orders`: due if
   * the log has no more outputs either. Where the owners before stored nothing, the log may be the reason, and a claim
   * is due after a longer time.
   */
  isDueIfUnstored(view: ClaimView): boolean {
    const limitMs = this.#isUnproven ? this.#rules.settleMs : unstoredMaxMs;
    const sinceMs = Math.max(view.unstoredSinceMs, this.#changedMs);
    return this.#mayClaim(view) && view.readThroughMs - sinceMs >= limitMs;
  }

  #mayClaim({ nowMs, ownership }: ClaimView): boolean {
    return ownership !== 'here' && nowMs - this.#sentMs >= this.#rules.silenceMs;
  }

  /** A fetch that began after the silence shows it; an earlier one may have waited in a process that stood still. */
  #isSilent({ readThroughMs }: ClaimView): boolean {
    return readThroughMs - this.#heardMs >= this.#rules.silenceMs;
  }

  /**
   * A partition that has no owner needs no look at the log: the first claim counts. An owner that has resigned may be
   * the preferred one, so any replica follows it.
   */
  #isFree({ nowMs, readThroughMs, ownership, isPreferred }: ClaimView): boolean {
    if (ownership === 'resigned') return true;
    if (!isPreferred) return false;
    if (ownership === 'none') return true;
    return readThroughMs >= this.#liveMs && nowMs - this.#changedMs >= this.#rules.settleMs;
  }
}
