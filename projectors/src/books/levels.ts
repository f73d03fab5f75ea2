/** The totals of one side of a book by price, ascending. */
export class PriceLevels {
  readonly #prices: number[] = [];
  readonly #sizes = new Map<number, number>();

  /** Sets the total of a price; 0 removes the level. */
  set(price: number, sizeMicro: number): void {
    const known = this.#sizes.has(price);
    if (sizeMicro === 0) {
      if (known) this.#prices.splice(this.#place(price), 1);
      this.#sizes.delete(price);
      return;
    }
    if (!known) this.#prices.splice(this.#place(price), 0, price);
    this.#sizes.set(price, sizeMicro);
  }

  /** 0 when there is no level. */
  get lowest(): number {
    return this.#prices[0] ?? 0;
  }

  /** 0 when there is no level. */
  get highest(): number {
    return this.#prices.at(-1) ?? 0;
  }

  ascending(): readonly Level[] {
    return this.#prices.map((price) => ({ price, sizeMicro: this.#sizes.get(price) ?? 0 }));
  }

  /** The sum of `of` over all levels. */
  sum(of: (price: number, sizeMicro: number) => number): number {
    let total = 0;
    for (const [price, sizeMicro] of this.#sizes) total += of(price, sizeMicro);
    return total;
  }

  /** Index of the first price that is not below this one. */
  #place(price: number): number {
    let low = 0;
    let high = this.#prices.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#prices[middle] ?? 0) < price) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

export interface Level {
  /** 1/10000 USDC. */
  readonly price: number;
  readonly sizeMicro: number;
}
