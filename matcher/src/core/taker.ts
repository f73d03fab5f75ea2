import {
  affordableMicro,
  complementPrice,
  lotMicro,
  notionalMicro,
  orderSizeMaxMicro,
  type PlaceOrder,
  type RefusalCode,
} from '@pm/schemas';
import type { Market } from './markets.ts';
import { at } from './order-pool.ts';
import type { Output, State } from './state.ts';

/** An incoming order on its way through the book: what it still wants and what it got. */
export interface Taker {
  readonly order: PlaceOrder;
  readonly market: Market;
  /** Its place in the book: BUY of token 0 and SELL of token 1 are bids. */
  readonly isBid: boolean;
  readonly isBuy: boolean;
  /** Limit in terms of token 0. */
  readonly limit0: number;
  /** Whether it has a budget to spend instead of a size. */
  readonly hasBudget: boolean;
  /** Slot of its wallet, -1 when the partition does not know it. */
  wallet: number;
  position: number;
  memory: number;
  lotsLeft: number;
  budgetLeftMicro: number;
  /** Resting orders it may still meet: those it fills, and overdue ones in its way. */
  meetingsLeft: number;
  filledMicro: number;
  paidMicro: number;
  feeMicro: number;
  /** A self-trade or the limit of meetings stands in its way: what is left is canceled. */
  isStopped: boolean;
}

export function takerOf(state: State, order: PlaceOrder, market: Market, out: Output): Taker {
  const isBuy = order.side === 'BUY';
  const hasBudget = order.budgetMicro > 0;
  const wallet = state.wallets.find(order.maker);
  return {
    order,
    market,
    isBid: isBuy === (order.outcome === 0),
    isBuy,
    limit0: order.outcome === 0 ? order.price : complementPrice(order.price),
    hasBudget,
    wallet,
    position: state.positions.find(wallet, market.slot),
    memory: -1,
    lotsLeft: (hasBudget ? orderSizeMaxMicro : order.sizeMicro) / lotMicro,
    budgetLeftMicro: order.budgetMicro,
    meetingsLeft: Math.min(out.fillsPerOrder, out.fillsLeft),
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    isStopped: false,
  };
}

/** The price of a level in terms of the taker's token. */
export function takerPrice(taker: Taker, price0: number): number {
  return taker.order.outcome === 0 ? price0 : complementPrice(price0);
}

/** Whether nothing is left to want: the size is filled, or the budget does not pay a lot at the limit any more. */
export function isComplete(taker: Taker): boolean {
  if (taker.hasBudget) return taker.budgetLeftMicro < taker.order.price;
  return taker.lotsLeft === 0;
}

/** Lots it takes of a maker: no more than both have, nor than the budget pays at that price. */
export function lotsTaken(taker: Taker, price: number, makerLots: number): number {
  const lots = Math.min(taker.lotsLeft, makerLots);
  if (!taker.hasBudget) return lots;
  return Math.min(lots, affordableMicro(price, taker.budgetLeftMicro) / lotMicro);
}

/**
 * What a taker meets before its first fill, as a refusal, or null when it may go on: a FOK order must be able to fill
 * whole, a FAK order something, a post-only order nothing, and nobody meets his own order first. Overdue orders are not
 * there, but clearing them away counts as meeting them.
 */
export function checkMeeting(state: State, taker: Taker): RefusalCode | null {
  const { order, market } = taker;
  if (order.timeInForce === 'FOK') return checkWhole(state, taker);
  let left = taker.meetingsLeft;
  let maker = state.book.firstMaker(market.slot, taker.isBid, taker.limit0);
  for (; maker !== -1 && state.isOverdue(maker); left -= 1) {
    if (left === 0) return 'fill_limit';
    maker = state.book.nextMaker(maker, taker.isBid, taker.limit0);
  }
  if (order.postOnly) return maker === -1 ? null : 'post_only_would_cross';
  if (maker === -1) return order.timeInForce === 'FAK' ? 'fak_not_filled' : null;
  if (isOwn(state, taker, maker)) return 'self_trade';
  return left === 0 ? 'fill_limit' : null;
}

/** Walks the makers as the fills would, without any. */
function checkWhole(state: State, taker: Taker): RefusalCode | null {
  const rest = { ...taker };
  let maker = state.book.firstMaker(taker.market.slot, taker.isBid, taker.limit0);
  for (; !isComplete(rest); rest.meetingsLeft -= 1) {
    if (maker === -1) return 'fok_not_filled';
    const isThere = !state.isOverdue(maker);
    if (isThere && isOwn(state, taker, maker)) return 'self_trade';
    if (rest.meetingsLeft === 0) return 'fill_limit';
    if (isThere && !takeUnseen(state, rest, maker)) return 'fok_not_filled';
    maker = state.book.nextMaker(maker, taker.isBid, taker.limit0);
  }
  return null;
}

/** Counts a fill that is not made; false when there would be none. */
function takeUnseen(state: State, rest: Taker, maker: number): boolean {
  const price = takerPrice(rest, state.book.orders.price0(maker));
  const lots = lotsTaken(rest, price, state.book.orders.get(maker, at.restLots));
  rest.lotsLeft -= lots;
  if (rest.hasBudget) rest.budgetLeftMicro -= notionalMicro(price, lots * lotMicro);
  return lots > 0;
}

export function isOwn(state: State, taker: Taker, maker: number): boolean {
  return state.book.orders.get(maker, at.wallet) === taker.wallet;
}
