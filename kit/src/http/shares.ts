/** How much of something holders may have at once. */
export interface ShareLimits {
  readonly ofEach: number;
  readonly inAll: number;
}

/** What holders have of something that is limited for each of them and in all. Nothing is kept of one that has none. */
export class Shares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, number>();
  #all = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** What all have together. */
  get all(): number {
    return this.#all;
  }

  /** Holders that have something. */
  get holders(): number {
    return this.#held.size;
  }

  /** Gives the holder that much more; false, with nothing given, where it or all would have too much. */
  take(holder: string, amount: number): boolean {
    const held = (this.#held.get(holder) ?? 0) + amount;
    if (held > this.#limits.ofEach || this.#all + amount > this.#limits.inAll) return false;
    this.#held.set(holder, held);
    this.#all += amount;
    return true;
  }

  /** Takes back what was given. */
  giveBack(holder: string, amount: number): void {
    const held = (this.#held.get(holder) ?? 0) - amount;
    if (held > 0) this.#held.set(holder, held);
    else this.#held.delete(holder);
    this.#all -= amount;
  }
}
