import { type EventOf, type Fill, notionalMicro, walletFromBytes } from '@pm/schemas';

/** What follows from fills alone: tokens of each wallet and market, money of each wallet, collateral of each market. */
export class Accounts {
  /** `wallet market outcome` -> micro-shares. */
  readonly tokens = new Map<string, number>();
  /** Wallet -> micro-USDC gained (or spent, negative) since the start, deposits left out. */
  readonly money = new Map<string, number>();
  /** Market -> micro-USDC locked. */
  readonly collateral = new Map<number, number>();

  applyFill(fill: Fill, feeWallet: string): void {
    const taker = walletFromBytes(fill.taker);
    const maker = walletFromBytes(fill.maker);
    this.#trade(taker, fill.market, {
      outcome: fill.takerOutcome,
      side: fill.takerSide,
      price: fill.takerPrice,
      sizeMicro: fill.sizeMicro,
    });
    this.#trade(maker, fill.market, {
      outcome: fill.makerOutcome,
      side: fill.makerSide,
      price: fill.makerPrice,
      sizeMicro: fill.sizeMicro,
    });
    add(this.money, taker, -fill.feeMicro);
    add(this.money, feeWallet, fill.feeMicro);
    if (fill.match === 'MINT') add(this.collateral, fill.market, fill.sizeMicro);
    if (fill.match === 'MERGE') add(this.collateral, fill.market, -fill.sizeMicro);
  }

  applyPosition(moved: EventOf<'PositionMoved'>): void {
    const wallet = walletFromBytes(moved.wallet);
    add(this.tokens, tokenKey(wallet, moved.market, 0), moved.token0Micro);
    add(this.tokens, tokenKey(wallet, moved.market, 1), moved.token1Micro);
    add(this.money, wallet, moved.paidMicro);
    add(this.collateral, moved.market, -moved.paidMicro);
  }

  #trade(
    wallet: string,
    market: number,
    leg: { outcome: number; side: 'BUY' | 'SELL'; price: number; sizeMicro: number },
  ): void {
    const sign = leg.side === 'BUY' ? 1 : -1;
    add(this.tokens, tokenKey(wallet, market, leg.outcome), sign * leg.sizeMicro);
    add(this.money, wallet, -sign * notionalMicro(leg.price, leg.sizeMicro));
  }
}

export function tokenKey(wallet: string, market: number, outcome: number): string {
  return `${wallet} ${market} ${outcome}`;
}

/** Adds to a sum kept in a map; zero sums are dropped so that maps compare. */
export function add<Key>(sums: Map<Key, number>, key: Key, change: number): void {
  const sum = (sums.get(key) ?? 0) + change;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}
