/** One order as the naive book keeps it; prices in terms of token 0. */
interface Resting {
  readonly order: number;
  readonly isBid: boolean;
  readonly price0: number;
  lots: number;
}

/**
 * The bare book once more, as plainly as it can be said: a list of orders per market, searched from its begin each
 * time. It shares nothing with the book it judges.
 */
export class NaiveBook {
  private readonly markets: Resting[][] = [];

  addMarket(): void {
    this.markets.push([]);
  }

  cancel(market: number, order: number): void {
    this.markets[market] = this.of(market).filter((one) => one.order !== order);
  }

  /** Gives the fills as numbers: taker, maker, price0, lots. */
  place(market: number, taker: Resting, rests: boolean): number[] {
    const fills: number[] = [];
    let left = taker.lots;
    for (;;) {
      const maker = this.best(market, taker);
      if (maker === undefined || left === 0) break;
      const lots = Math.min(left, maker.lots);
      left -= lots;
      maker.lots -= lots;
      fills.push(taker.order, maker.order, maker.price0, lots);
      if (maker.lots === 0) this.cancel(market, maker.order);
    }
    if (rests && left > 0) this.of(market).push({ ...taker, lots: left });
    return fills;
  }

  orders(): number[] {
    return this.markets.flatMap((orders) => orders.map(({ order }) => order));
  }

  /** Markets by number; in each the orders by price, those of a price by arrival. */
  text(): string {
    const texts = this.markets.map((orders) =>
      [...orders]
        .sort((a, b) => a.price0 - b.price0)
        .map(
          ({ order, isBid, price0, lots }) => `${order} ${isBid ? 'bid' : 'ask'} ${price0} ${lots}`,
        )
        .join(),
    );
    return texts.join('\n');
  }

  /** The first of those it would rather meet than any other, or nobody. */
  private best(market: number, taker: Resting): Resting | undefined {
    const sign = taker.isBid ? 1 : -1;
    let found: Resting | undefined;
    for (const one of this.of(market)) {
      if (one.isBid === taker.isBid || sign * (one.price0 - taker.price0) > 0) continue;
      if (found === undefined || sign * (one.price0 - found.price0) < 0) found = one;
    }
    return found;
  }

  private of(market: number): Resting[] {
    return this.markets[market] as Resting[];
  }
}
