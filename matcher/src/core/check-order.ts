import {
  holdMicro,
  lotMicro,
  type MarketMode,
  openOrdersPerWalletMax,
  orderSizeMaxMicro,
  type PlaceOrder,
  priceOne,
  type RefusalCode,
} from '@pm/schemas';
import type { Market } from './markets.ts';
import type { State } from './state.ts';
import { checkMeeting, type Taker } from './taker.ts';

/** How far ahead of the partition's clock an order may be signed. */
const signedAheadMaxMs = 300_000;

/** Whether an order is too old, or too far ahead, to be looked at: its id may have been forgotten already. */
export function isStale(state: State, order: PlaceOrder): boolean {
  const { signedAtMs } = order;
  if (signedAtMs < state.timeMs - state.orderAgeLimitMs) return true;
  return signedAtMs > state.timeMs + signedAheadMaxMs;
}

/** The ladder of refusals for a new order, cheapest first; null when it must be taken. */
export function checkOrder(state: State, taker: Taker): RefusalCode | null {
  return (
    checkTime(state, taker.order) ??
    checkMode(taker.market.mode, taker.order.postOnly) ??
    checkForm(taker.market, taker.order) ??
    checkExpiry(state, taker.order) ??
    checkFunds(state, taker) ??
    checkRoom(state, taker) ??
    checkMeeting(state, taker)
  );
}

function checkTime(state: State, order: PlaceOrder): RefusalCode | null {
  const asked = order.ageLimitMs;
  const limitMs = asked > 0 && asked < state.bookAgeLimitMs ? asked : state.bookAgeLimitMs;
  if (Math.abs(order.acceptedAtMs - state.timeMs) > limitMs) return 'too_late';
  return order.generation < state.generation ? 'old_generation' : null;
}

function checkMode(mode: MarketMode, postOnly: boolean): RefusalCode | null {
  if (mode === 'OPEN') return null;
  if (mode === 'RESOLVED') return 'market_resolved';
  if (mode === 'HALTED') return 'trading_disabled';
  if (mode === 'CANCEL_ONLY') return 'cancel_only';
  return postOnly ? null : 'post_only_mode';
}

function checkForm(market: Market, order: PlaceOrder): RefusalCode | null {
  const { price, sizeMicro } = order;
  const rests = mayRest(order);
  if (order.postOnly && !rests) return 'invalid_post_only_order_type';
  if (price < market.tick || price > priceOne - market.tick) return 'invalid_tick_size';
  if (price % market.tick !== 0) return 'invalid_tick_size';
  if (order.budgetMicro !== 0) return checkBudget(order);
  if (sizeMicro <= 0 || sizeMicro > orderSizeMaxMicro) return 'invalid_amounts';
  if (sizeMicro % lotMicro !== 0) return 'invalid_amounts';
  return rests && sizeMicro < market.minSizeMicro ? 'invalid_size' : null;
}

/** A budget is for market buys and pays a lot at the limit, at least; the size is what the client named, no more. */
function checkBudget(order: PlaceOrder): RefusalCode | null {
  const { budgetMicro } = order;
  if (mayRest(order) || order.side === 'SELL') return 'invalid_amounts';
  if (budgetMicro < order.price || budgetMicro > orderSizeMaxMicro) return 'invalid_amounts';
  return order.sizeMicro < 0 ? 'invalid_amounts' : null;
}

function checkExpiry(state: State, order: PlaceOrder): RefusalCode | null {
  const { expiresAtMs } = order;
  const isRight = order.timeInForce === 'GTD' ? expiresAtMs > state.timeMs : expiresAtMs === 0;
  return isRight ? null : 'invalid_expiration';
}

function checkFunds(state: State, taker: Taker): RefusalCode | null {
  const { order } = taker;
  const isCovered = taker.isBuy
    ? requiredMicro(order, taker.market.feeRateBps) <= order.holdMicro
    : order.sizeMicro <= state.positions.freeMicro(taker.position, order.outcome);
  return isCovered ? null : 'insufficient_balance_or_allowance';
}

function requiredMicro(order: PlaceOrder, feeRateBps: number): number {
  const { price, sizeMicro, budgetMicro } = order;
  return holdMicro({ side: 'BUY', price, sizeMicro, budgetMicro, feeRateBps });
}

/** A resting order needs a place in its wallet's list, and a level whose total stays a safe integer. */
function checkRoom(state: State, taker: Taker): RefusalCode | null {
  if (!mayRest(taker.order)) return null;
  const { wallet, market } = taker;
  if (wallet !== -1 && state.wallets.restingOrders(wallet) >= openOrdersPerWalletMax) {
    return 'too_many_open_orders';
  }
  const levelLots = state.book.levelLots(market.slot, taker.isBid, taker.limit0);
  return levelLots + taker.lotsLeft > levelLotsMax ? 'too_many_open_orders' : null;
}

/** Largest total of a level, so that it is a safe integer in micro-shares. */
const levelLotsMax = Math.floor(Number.MAX_SAFE_INTEGER / lotMicro);

export function mayRest(order: PlaceOrder): boolean {
  return order.timeInForce === 'GTC' || order.timeInForce === 'GTD';
}
