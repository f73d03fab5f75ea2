import type { EventOf, Fill } from '@pm/schemas/log/executions';
import type { Side } from '@pm/schemas/log/types';
import { complementPrice, lotMicro, notionalMicro, priceOne } from '@pm/schemas/money';
import { buy, type PositionSums, sell } from './position.ts';

type PositionMoved = EventOf<'PositionMoved'>;

/** Change that a record makes to the position of a wallet in one token. */
export interface PositionTrade {
  /** 20 bytes. */
  readonly wallet: Buffer;
  readonly market: number;
  readonly outcome: number;
  readonly side: Side;
  readonly sizeMicro: number;
  /** 1/10000 USDC. */
  readonly price: number;
  /** False for splits, merges and redemptions. */
  readonly countsAsVolume: boolean;
}

/** Price of each token in splits and merges (conventions.md 6.2). */
const halfPrice = priceOne / 2;

/** Adds a trade; returns its value, micro-USDC. Throws `BrokenLog` when more is sold than is held. */
export function applyTrade(
  position: PositionSums,
  { side, sizeMicro, price }: Pick<PositionTrade, 'side' | 'sizeMicro' | 'price'>,
): number {
  const valueMicro = notionalMicro(price, sizeMicro);
  if (side === 'BUY') buy(position, sizeMicro, valueMicro);
  else sell(position, sizeMicro, valueMicro);
  return valueMicro;
}

export function takersTrade(fill: Fill): PositionTrade {
  return {
    wallet: fill.taker,
    market: fill.market,
    outcome: fill.takerOutcome,
    side: fill.takerSide,
    sizeMicro: fill.sizeMicro,
    price: fill.takerPrice,
    countsAsVolume: true,
  };
}

export function makersTrade(fill: Fill): PositionTrade {
  return {
    wallet: fill.maker,
    market: fill.market,
    outcome: fill.makerOutcome,
    side: fill.makerSide,
    sizeMicro: fill.sizeMicro,
    price: fill.makerPrice,
    countsAsVolume: true,
  };
}

/**
 * The price of token 0 in a move, 1/10000 USDC: half in splits and merges, of a redemption what follows from its money.
 * Null for a redemption of as much of both tokens: only the resolution says it.
 */
export function priceOfMove(moved: PositionMoved): number | null {
  if (moved.action !== 'REDEEM') return halfPrice;
  const lots0 = -moved.token0Micro / lotMicro;
  const lots1 = -moved.token1Micro / lotMicro;
  return lots0 === lots1 ? null : (moved.paidMicro - priceOne * lots1) / (lots0 - lots1);
}

/** The trades of a split, merge or redemption; `price0`: of token 0, see `priceOfMove`. */
export function tradesOfMove(moved: PositionMoved, price0: number): readonly PositionTrade[] {
  const { token0Micro, token1Micro } = moved;
  const side: Side = moved.action === 'SPLIT' ? 'BUY' : 'SELL';
  const move = (outcome: number, sizeMicro: number, price: number): PositionTrade => {
    const { wallet, market } = moved;
    return { wallet, market, outcome, side, sizeMicro, price, countsAsVolume: false };
  };
  const moves: PositionTrade[] = [];
  if (token0Micro !== 0) moves.push(move(0, Math.abs(token0Micro), price0));
  if (token1Micro !== 0) moves.push(move(1, Math.abs(token1Micro), complementPrice(price0)));
  return moves;
}
