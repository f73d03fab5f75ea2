/**
 * Seeded random numbers (mulberry32), the same on every machine: for simulations, measurements and tests, never for
 * secrets.
 */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 <= x < 1 */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 <= n < end */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** least <= n <= most */
  integer(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError('nothing to pick from');
    return items[this.below(items.length)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }
}
