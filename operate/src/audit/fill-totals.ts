import { walletFromBytes } from '@pm/schemas/ids';
import type { EventOf, Fill } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, notionalMicro, priceOne } from '@pm/schemas/money';
import { type Leg, type LegSource, type PositionKey, Positions } from './positions.ts';

/** Totals of fills and moves: positions of each wallet, its money, collateral of each market. */
export class FillTotals {
  readonly positions = new Positions();
  /** Wallet -> micro-USDC gained (or spent, negative) since the start, deposits left out. */
  readonly money = new Map<string, number>();
  /** Market -> micro-USDC locked. */
  readonly collateral = new Map<number, number>();

  /** The taker's side first, then the maker's. */
  applyFill(fill: Fill, feeWallet: string, source: LegSource): void {
    const { market, sizeMicro } = fill;
    const taker = walletFromBytes(fill.taker);
    this.#trade(source, {
      wallet: taker,
      market,
      outcome: fill.takerOutcome,
      sizeMicro,
      side: fill.takerSide,
      price: fill.takerPrice,
      isTrade: true,
    });
    this.#trade(source, {
      wallet: walletFromBytes(fill.maker),
      market,
      outcome: fill.makerOutcome,
      sizeMicro,
      side: fill.makerSide,
      price: fill.makerPrice,
      isTrade: true,
    });
    add(this.money, taker, -fill.feeMicro);
    add(this.money, feeWallet, fill.feeMicro);
    if (fill.match === 'MINT') add(this.collateral, market, sizeMicro);
    if (fill.match === 'MERGE') add(this.collateral, market, -sizeMicro);
  }

  /** Splits come in, and merges go out, at one half each; redemptions at the payout, 1/10000 USDC of token 0. */
  applyMove(moved: EventOf<'PositionMoved'>, payout0: number, source: LegSource): void {
    const { market, action } = moved;
    const wallet = walletFromBytes(moved.wallet);
    const price0 = action === 'REDEEM' ? payout0 : priceOne / 2;
    const changes = [
      { outcome: 0, price: price0, changeMicro: moved.token0Micro },
      { outcome: 1, price: complementPrice(price0), changeMicro: moved.token1Micro },
    ];
    for (const { outcome, price, changeMicro } of changes) {
      if (changeMicro === 0) continue;
      const side: Side = changeMicro > 0 ? 'BUY' : 'SELL';
      const leg = { wallet, market, outcome, side, price, sizeMicro: Math.abs(changeMicro) };
      this.positions.apply({ ...leg, isTrade: false }, source);
    }
    add(this.money, wallet, moved.paidMicro);
    add(this.collateral, market, -moved.paidMicro);
  }

  #trade(source: LegSource, leg: Leg): void {
    this.positions.apply(leg, source);
    const sign = leg.side === 'BUY' ? 1 : -1;
    add(this.money, leg.wallet, -sign * notionalMicro(leg.price, leg.sizeMicro));
  }
}

export function tokenKey({ wallet, market, outcome }: PositionKey): string {
  return `${wallet} ${market} ${outcome}`;
}

/** Adds to a sum kept in a map; zero sums are dropped so that maps compare. */
export function add<Key>(sums: Map<Key, number>, key: Key, change: number): void {
  const sum = (sums.get(key) ?? 0) + change;
  if (sum === 0) sums.delete(key);
  else sums.set(key, sum);
}
