import { Random } from '@pm/kit/random';

/** Chance with the distributions of streams of orders. */
export class StreamRandom extends Random {
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
