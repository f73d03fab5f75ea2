/** Seeded randomness (mulberry32), so that a stream can be made again. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** 0 <= value < 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 <= value < end. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Failures before a success. */
  geometric(success: number): number {
    return Math.floor(Math.log(1 - this.next()) / Math.log(1 - success));
  }

  /** Pareto distributed whole number of at least `min`, cut at `max`. */
  pareto(min: number, shape: number, max: number): number {
    return Math.min(max, Math.floor(min * (1 - this.next()) ** (-1 / shape)));
  }
}

/** Draws 0 .. count-1 with probabilities proportional to 1 / rank^exponent. */
export class Zipf {
  private readonly cumulative: Float64Array;

  constructor(count: number, exponent: number) {
    this.cumulative = new Float64Array(count);
    let sum = 0;
    for (let rank = 0; rank < count; rank += 1) {
      sum += 1 / (rank + 1) ** exponent;
      this.cumulative[rank] = sum;
    }
    for (let rank = 0; rank < count; rank += 1) {
      this.cumulative[rank] = (this.cumulative[rank] ?? 0) / sum;
    }
  }

  draw(random: Random): number {
    const at = random.next();
    let [low, high] = [0, this.cumulative.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.cumulative[middle] ?? 1) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
