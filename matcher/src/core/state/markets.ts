import type { MarketMode } from '@pm/schemas/log/types';

/** The rules and the collateral of a market; its orders are in the book. */
export interface Market {
  readonly number: number;
  /** Its place in the book and in `Markets.list`. */
  readonly slot: number;
  readonly conditionId: Buffer;
  readonly token0: Buffer;
  readonly token1: Buffer;
  tick: number;
  minSizeMicro: number;
  feeRateBps: number;
  mode: MarketMode;
  /** How long an order that would trade at once is delayed first, milliseconds. */
  takerDelayMs: number;
  /** Payout of token 0 once resolved, 1/10000 USDC. */
  payout0: number;
  /** Micro-USDC that back the tokens: 1 USDC for each pair, until redeemed. */
  collateralMicro: number;
}

/** The markets of a partition by number; a listed market stays. */
export class Markets {
  readonly list: Market[] = [];
  /** Resolved markets that still have resting or delayed orders, by number; the last of them may have ended since. */
  readonly uncleared: Market[] = [];
  private readonly byNumber = new Map<number, Market>();
  /** The last one found, by the ends of numbers: nearly every order finds its market here. */
  private readonly recent: (Market | undefined)[] = new Array(recentMarkets).fill(undefined);

  find(number: number): Market | undefined {
    const recent = this.recent[number & (recentMarkets - 1)];
    if (recent?.number === number) return recent;
    const market = this.byNumber.get(number);
    if (market !== undefined) this.recent[number & (recentMarkets - 1)] = market;
    return market;
  }

  at(slot: number): Market {
    return this.list[slot] as Market;
  }

  add(market: Market): void {
    this.list.push(market);
    this.byNumber.set(market.number, market);
  }

  /** Leaves the orders of a resolved market to the next records. */
  addUncleared(market: Market): void {
    this.uncleared.push(market);
    this.uncleared.sort((a, b) => a.number - b.number);
  }

  inOrder(): Market[] {
    return [...this.list].sort((a, b) => a.number - b.number);
  }
}

const recentMarkets = 1024;
