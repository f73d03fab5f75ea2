/** Limit of a count: how much a name may have in one window. */
export interface WindowLimit {
  readonly most: number;
  readonly windowMs: number;
  /** Names with a count of their own; all further ones of a window share one. */
  readonly namesMax: number;
}

/** Counts by name in windows of a fixed length, in this process. Times are monotonic milliseconds. */
export class WindowCounts {
  readonly #limit: WindowLimit;
  readonly #counts = new Map<string, number>();
  #window = -1;

  constructor(limit: WindowLimit) {
    this.#limit = limit;
  }

  /** Counts one; false when the name has had all of this window. */
  take(name: string, nowMs: number): boolean {
    const key = this.#keyOf(name, nowMs);
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#limit.most) return false;
    this.#counts.set(key, count + 1);
    return true;
  }

  /** Whole seconds until the window ends, at least 1. */
  secondsLeft(nowMs: number): number {
    const { windowMs } = this.#limit;
    return Math.max(1, Math.ceil((windowMs - (nowMs % windowMs)) / 1000));
  }

  #keyOf(name: string, nowMs: number): string {
    const window = Math.floor(nowMs / this.#limit.windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#counts.clear();
    }
    const isKnown = this.#counts.has(name) || this.#counts.size < this.#limit.namesMax;
    return isKnown ? name : '';
  }
}
