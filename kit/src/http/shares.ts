/** How much of something holders may have at once. */
export interface ShareLimits {
  readonly ofEach: number;
  readonly inAll: number;
}

/**
 * Holders that are kept though they have nothing; one more, and all of them are forgotten. An entry that comes and goes
 * with each request makes V8 replace the table of an old map by another old one again and again, and that starts
 * collections of all memory: a fifth to a half of what a batch of reads cost.
 */
const idleMax = 1_000;

/** Amounts that holders have of something that is limited for each holder and in total. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #all = 0;
  #idle = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Amount that all holders have together. */
  get all(): number {
    return this.#all;
  }

  /** Holders that have something. */
  get holders(): number {
    return this.#held.size - this.#idle;
  }

  /** Holders that are kept: those that have something, and at most `idleMax` others. */
  get kept(): number {
    return this.#held.size;
  }

  /** Gives the holder that much more; false, with nothing given, where it or all would have too much. */
  take(holder: string, amount: number): boolean {
    const before = this.#held.get(holder);
    const held = (before ?? 0) + amount;
    if (held > this.#limits.ofEach || this.#all + amount > this.#limits.inAll) return false;
    if (before === 0) this.#idle -= 1;
    this.#held.set(holder, held);
    this.#all += amount;
    return true;
  }

  /** Takes back what was given. */
  giveBack(holder: string, amount: number): void {
    const held = (this.#held.get(holder) ?? 0) - amount;
    this.#held.set(holder, Math.max(held, 0));
    this.#all -= amount;
    if (held > 0) return;
    this.#idle += 1;
    if (this.#idle > idleMax) this.#forgetIdle();
  }

  #forgetIdle(): void {
    for (const [holder, held] of this.#held) if (held === 0) this.#held.delete(holder);
    this.#idle = 0;
  }
}
