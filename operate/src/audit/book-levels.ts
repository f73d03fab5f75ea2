import type { Side } from '@pm/schemas/log/types';

/** Levels of one side, micro-shares by price of token 0 in 1/10000 USDC. */
class Ladder {
  readonly sizes = new Map<number, number>();
  /** 0 when it is empty. */
  best = 0;
  readonly #better: (one: number, other: number) => number;

  constructor(better: (one: number, other: number) => number) {
    this.#better = better;
  }

  /** Sets the total of a level and returns the total before. */
  set(price: number, sizeMicro: number): number {
    const before = this.sizes.get(price) ?? 0;
    if (sizeMicro > 0) {
      this.sizes.set(price, sizeMicro);
      this.best = this.best === 0 ? price : this.#better(this.best, price);
      return before;
    }
    this.sizes.delete(price);
    // All are compared only when the best one has gone.
    if (price === this.best) this.best = this.#bestOfAll();
    return before;
  }

  #bestOfAll(): number {
    let best = 0;
    for (const price of this.sizes.keys()) best = best === 0 ? price : this.#better(best, price);
    return best;
  }
}

/** The book of a market in terms of token 0. */
export class BookLevels {
  readonly bids = new Ladder(Math.max);
  readonly asks = new Ladder(Math.min);
  /** Best prices by the last event that states them, 1/10000 USDC; 0 for an empty side. */
  stated = { bid: 0, ask: 0 };

  set(side: Side, price: number, sizeMicro: number): number {
    return (side === 'BUY' ? this.bids : this.asks).set(price, sizeMicro);
  }

  /** Difference between the stated best prices and the levels; null when there is none. */
  wrongTop(): string | null {
    const [{ bid, ask }, bids, asks] = [this.stated, this.bids.best, this.asks.best];
    if (bid === bids && ask === asks) return null;
    return `best prices ${bid} and ${ask} are stated, those of the levels are ${bids} and ${asks}`;
  }
}
