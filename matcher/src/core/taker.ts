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
  /** What rests of it in the end. */
  restingMicro: number;
  /** Orders it clears before the first that it meets (`firstToMeet`). */
  clearedFirst: number;
  /** A self-trade or the limit of meetings stands in its way: what is left is canceled. */
  isStopped: boolean;
}

type Scratch = { -readonly [Field in keyof Taker]: Taker[Field] };

/** Its memory is used by one order after the other: a taker ends when the next one begins. */
let scratch: Scratch | null = null;

export function takerOf(state: State, order: PlaceOrder, market: Market, out: Output): Taker {
  const taker = scratch ?? blankTaker(order, market);
  scratch = taker;
  taker.order = order;
  taker.market = market;
  taker.isBuy = order.side === 'BUY';
  taker.isBid = taker.isBuy === (order.outcome === 0);
  taker.limit0 = order.outcome === 0 ? order.price : complementPrice(order.price);
  taker.hasBudget = order.budgetMicro > 0;
  taker.wallet = state.wallets.find(order.maker);
  taker.position = state.positions.find(taker.wallet, market.slot);
  taker.memory = -1;
  taker.lotsLeft = (taker.hasBudget ? orderSizeMaxMicro : order.sizeMicro) / lotMicro;
  taker.budgetLeftMicro = order.budgetMicro;
  taker.rests = order.timeInForce === 'GTC' || order.timeInForce === 'GTD';
  taker.meetingsLeft = Math.min(out.limits.fillsPerOrder, out.fillsLeft);
  taker.filledMicro = 0;
  taker.paidMicro = 0;
  taker.feeMicro = 0;
  taker.fills = 0;
  taker.clearedFirst = 0;
  taker.restingMicro = 0;
  taker.isStopped = false;
  return taker;
}

function blankTaker(order: PlaceOrder, market: Market): Scratch {
  return {
    order,
    market,
    isBid: false,
    isBuy: false,
    limit0: 0,
    hasBudget: false,
    wallet: -1,
    position: -1,
    memory: -1,
    lotsLeft: 0,
    budgetLeftMicro: 0,
    rests: false,
    meetingsLeft: 0,
    filledMicro: 0,
    paidMicro: 0,
    feeMicro: 0,
    fills: 0,
    clearedFirst: 0,
    restingMicro: 0,
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
  const maker = firstToMeet(state, taker);
  const before = taker.clearedFirst;
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

/** The first order in its way that it does not clear away, or -1; how many it clears before is `clearedFirst`. */
export function firstToMeet(state: State, taker: Taker): number {
  const { order, market, isBid, limit0 } = taker;
  let before = 0;
  let maker = state.book.firstMaker(market.slot, isBid, limit0);
  for (; maker !== -1 && before <= taker.meetingsLeft; before += 1) {
    const meeting = meetingOf(state, taker, maker);
    if (meeting !== 'expire' && (meeting !== 'clear' || order.postOnly)) break;
    maker = state.book.nextMaker(maker, isBid, limit0);
  }
  taker.clearedFirst = before;
  return maker;
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
