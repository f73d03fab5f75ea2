import type { MarketMode } from '@pm/schemas';

/** What the partition knows of a market besides its book. */
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
  /** How long an order that would trade at once is held first. */
  takerDelayMs: number;
  /** What token 0 pays once resolved, 1/10000 USDC. */
  payout0: number;
  /** Micro-USDC behind the tokens: 1 USDC for each pair, until redeemed. */
  collateralMicro: number;
}

/** The markets of a partition by number; a listed market stays. */
export class Markets {
  readonly list: Market[] = [];
  /** Resolved markets where orders still rest or are delayed, by number; some may have lost their last one meanwhile. */
  readonly unswept: Market[] = [];
  private readonly byNumber = new Map<number, Market>();

  find(number: number): Market | undefined {
    return this.byNumber.get(number);
  }

  at(slot: number): Market {
    return this.list[slot] as Market;
  }

  add(market: Market): void {
    this.list.push(market);
    this.byNumber.set(market.number, market);
  }

  /** Its orders go with the next records. */
  leaveUnswept(market: Market): void {
    this.unswept.push(market);
    this.unswept.sort((a, b) => a.number - b.number);
  }

  inOrder(): Market[] {
    return [...this.list].sort((a, b) => a.number - b.number);
  }
}
