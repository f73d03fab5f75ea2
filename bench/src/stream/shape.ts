/** Parameters of a stream; the same shape gives the same commands. */
export interface Shape {
  readonly name: string;
  readonly seed: number;
  readonly commands: number;
  readonly markets: number;
  /** 1/10000 USDC. */
  readonly tick: number;
  /** Other shares than the usual ones. */
  readonly share?: Partial<Share>;
}

/** Shares of the kinds of commands; the rest are orders that do not cross. */
export interface Share {
  readonly cancel: number;
  /** Orders that trade or go. */
  readonly take: number;
  /** Share of orders that cross, among the orders that are not in `take`. */
  readonly crossing: number;
}

/** The loads of `figures.md`. `small` is for what is too slow for the others. */
export const shapes = {
  std: { name: 'std', seed: 11, commands: 2_000_000, markets: 100, tick: 10 },
  hot: { name: 'hot', seed: 13, commands: 1_000_000, markets: 1, tick: 100 },
  wide: { name: 'wide', seed: 17, commands: 2_000_000, markets: 5_000, tick: 10 },
  small: { name: 'small', seed: 7, commands: 300_000, markets: 100, tick: 10 },
} as const satisfies Record<string, Shape>;

export const tokensPerMarket = 2;

/** Books of a shape: each token of each market is one of its own, so that any engine can run it. */
export function booksOf(shape: Shape): number {
  return shape.markets * tokensPerMarket;
}
