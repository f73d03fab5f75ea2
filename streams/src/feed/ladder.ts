/** The totals of one side of a book, by price ascending, in two arrays of equal length. */
export class Ladder {
  readonly #prices: number[] = [];
  readonly #sizes: number[] = [];

  get length(): number {
    return this.#prices.length;
  }

  /** 1/10000 USDC; 0 when there is no level. */
  get lowest(): number {
    return this.#prices[0] ?? 0;
  }

  /** 1/10000 USDC; 0 when there is no level. */
  get highest(): number {
    return this.#prices[this.#prices.length - 1] ?? 0;
  }

  /** Total of a price, micro-shares; 0 when there is no level. */
  sizeOf(price: number): number {
    const at = this.#placeOf(price);
    return this.#prices[at] === price ? (this.#sizes[at] ?? 0) : 0;
  }

  /** Sets the total of a price; 0 removes the level. */
  set(price: number, sizeMicro: number): void {
    const at = this.#placeOf(price);
    const isKnown = this.#prices[at] === price;
    if (sizeMicro === 0) {
      if (!isKnown) return;
      this.#prices.splice(at, 1);
      this.#sizes.splice(at, 1);
    } else if (isKnown) {
      this.#sizes[at] = sizeMicro;
    } else {
      this.#prices.splice(at, 0, price);
      this.#sizes.splice(at, 0, sizeMicro);
    }
  }

  /** Calls `visit` for each level by price ascending. */
  each(visit: (price: number, sizeMicro: number) => void): void {
    for (let at = 0; at < this.#prices.length; at += 1)
      visit(this.#prices[at] as number, this.#sizes[at] as number);
  }

  /** Index of the first price that is not below this one. */
  #placeOf(price: number): number {
    let low = 0;
    let high = this.#prices.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#prices[middle] as number) < price) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
