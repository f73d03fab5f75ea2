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
  /** Whether what it does not fill may rest. */
  readonly rests: boolean;
  /** Resting orders it may still meet: those it fills, and those in its way that it clears. */
  meetingsLeft: number;
  filledMicro: number;
  paidMicro: number;
  feeMicro: number;
  fills: number;
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
    rests: order.timeInForce === 'GTC' || order.timeInForce === 'GTD',
    meetingsLeft: Math.min(out.limits.fillsPerOrder, out.fillsLeft),
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    fills: 0,
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

/** What becomes of a resting order in the taker's way: it fills, it is canceled, or the taker ends here. */
export type Meeting = 'fill' | 'expire' | 'clear' | 'end' | 'end-both';

/** Overdue orders expire; the taker's own go by its mode of self-trade. Both count as meetings, like fills. */
export function meetingOf(state: State, taker: Taker, maker: number): Meeting {
  if (state.isOverdue(maker)) return 'expire';
  if (state.book.orders.get(maker, at.wallet) !== taker.wallet) return 'fill';
  switch (taker.order.selfTrade) {
    case 'ALLOW':
      return 'fill';
    case 'CANCEL_OLDEST':
      return 'clear';
    case 'CANCEL_BOTH':
      return 'end-both';
    default:
      return 'end';
  }
}

/**
 * What a taker meets before its first fill, as a refusal, or null when it may go on: a FOK order must be able to fill
 * whole, a FAK order something, a post-only order nothing, and nobody meets his own order first unless his mode of
 * self-trade clears it away or trades with it. Orders that would be cleared away are not there, but clearing them counts
 * as meeting them. Post-only looks at everything as it stands, its own orders included.
 */
export function checkMeeting(state: State, taker: Taker): RefusalCode | null {
  const { order } = taker;
  if (order.timeInForce === 'FOK') return checkWhole(state, taker);
  const { maker, before } = firstToMeet(state, taker);
  if (before > taker.meetingsLeft) return 'fill_limit';
  if (order.postOnly) return maker === -1 ? null : 'post_only_would_cross';
  if (maker === -1) return whyNothing(taker);
  if (meetingOf(state, taker, maker) === 'end') return 'self_trade';
  if (before === taker.meetingsLeft) return 'fill_limit';
  return meetingOf(state, taker, maker) === 'end-both' ? 'self_trade' : null;
}

/** An order that meets nothing rests if it may. */
function whyNothing(taker: Taker): RefusalCode | null {
  if (taker.rests) return null;
  return taker.order.timeInForce === 'FAK' ? 'fak_not_filled' : 'fenced';
}

/** The first order in its way that it does not clear away, or -1, and how many it clears before. */
export function firstToMeet(state: State, taker: Taker): { maker: number; before: number } {
  const { order, market, isBid, limit0 } = taker;
  let before = 0;
  let maker = state.book.firstMaker(market.slot, isBid, limit0);
  for (; maker !== -1 && before <= taker.meetingsLeft; before += 1) {
    const meeting = meetingOf(state, taker, maker);
    if (meeting !== 'expire' && (meeting !== 'clear' || order.postOnly)) break;
    maker = state.book.nextMaker(maker, isBid, limit0);
  }
  return { maker, before };
}

/** Walks the makers as the fills would, without any. */
function checkWhole(state: State, taker: Taker): RefusalCode | null {
  const rest = { ...taker };
  let maker = state.book.firstMaker(taker.market.slot, taker.isBid, taker.limit0);
  for (; !isComplete(rest); rest.meetingsLeft -= 1) {
    if (maker === -1) return 'fok_not_filled';
    const meeting = meetingOf(state, taker, maker);
    if (meeting === 'end' || meeting === 'end-both') return 'self_trade';
    if (rest.meetingsLeft === 0) return 'fill_limit';
    if (meeting === 'fill' && !takeUnseen(state, rest, maker)) return 'fok_not_filled';
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
