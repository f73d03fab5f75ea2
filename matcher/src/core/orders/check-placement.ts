import { openOrdersPerWalletMax } from '@pm/schemas/log/executions';
import { gtdBookedMinSeconds, rules, signedAheadMaxMs } from '@pm/schemas/log/log-rules';
import type { PlaceOrder } from '@pm/schemas/log/orders';
import { holdMicro, lotMicro, orderSizeMaxMicro, priceOne } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import type { State } from '../state/state.ts';
import { checkOrderType } from './order-type.ts';
import type { Taker } from './taker.ts';

/**
 * Whether an order was signed too long ago, or too far ahead: its id may be forgotten, so a repetition would be missed.
 */
export function isStale(state: State, order: PlaceOrder): boolean {
  const { signedAtMs } = order;
  if (signedAtMs < state.timeMs - state.orderAgeLimitMs) return true;
  return signedAtMs > state.timeMs + signedAheadMaxMs;
}

/** The refusals of a new order, the cheapest check first; null when it must be accepted. */
export function checkPlacement(state: State, taker: Taker): RefusalCode | null {
  return (
    checkTime(state, taker.order) ??
    checkNew(state, taker) ??
    checkRoom(state, taker) ??
    checkOrderType(state, taker)
  );
}

/**
 * The refusals of an order that will be held for the next tick. The clock, which may stand, shows only that it is late
 * for certain; and the book it will meet is that of the tick.
 */
export function checkHold(state: State, taker: Taker): RefusalCode | null {
  return checkAge(state, taker.order) ?? checkNew(state, taker);
}

/** The refusals of a held order by the tick that it waited for: its time to book, and what may have changed since. */
export function checkAfterHold(
  state: State,
  taker: Taker,
  isCanceled: boolean,
): RefusalCode | null {
  return (
    checkTime(state, taker.order) ??
    (isCanceled || state.fences.covers(taker.order) ? 'fenced' : null) ??
    checkRelease(state, taker)
  );
}

function checkNew(state: State, taker: Taker): RefusalCode | null {
  const { order } = taker;
  return (
    (order.generation < state.generation ? 'old_generation' : null) ??
    checkFences(state, order) ??
    checkMode(state, taker) ??
    checkForm(taker) ??
    checkExpiry(state, order) ??
    checkLifetime(state, order) ??
    checkFunds(state, taker)
  );
}

/**
 * The refusals of a delayed order at the end of its delay: only what may have changed since. Its money and tokens are
 * held, and neither its age nor fences count any more.
 */
export function checkRelease(state: State, taker: Taker): RefusalCode | null {
  return (
    checkMode(state, taker) ??
    checkExpiry(state, taker.order) ??
    checkRoom(state, taker) ??
    checkOrderType(state, taker)
  );
}

/** A delayed order counts as one of its wallet's open orders, whether it may rest or not. */
export function hasRoom(state: State, wallet: number): boolean {
  return wallet === -1 || state.wallets.openOrders(wallet) < openOrdersPerWalletMax;
}

/** Refuses also what was accepted long after the clock: a later order could not be told from an earlier one. */
function checkTime(state: State, order: PlaceOrder): RefusalCode | null {
  const { timeMs, bookAgeLimitMs } = state;
  const aheadMaxMs = state.rules < rules.judgedByTicks ? limitOf(state, order) : bookAgeLimitMs;
  return order.acceptedAtMs - timeMs > aheadMaxMs ? 'too_late' : checkAge(state, order);
}

function checkAge(state: State, order: PlaceOrder): RefusalCode | null {
  return state.timeMs - order.acceptedAtMs > limitOf(state, order) ? 'too_late' : null;
}

/** Milliseconds from its acceptance to its book. */
function limitOf({ bookAgeLimitMs }: State, { ageLimitMs }: PlaceOrder): number {
  return ageLimitMs > 0 ? Math.min(ageLimitMs, bookAgeLimitMs) : bookAgeLimitMs;
}

function checkFences({ fences, fencedIds }: State, order: PlaceOrder): RefusalCode | null {
  return fences.covers(order) || fencedIds.covers(order) ? 'fenced' : null;
}

/** The stricter of the mode for all and that of the market. */
function checkMode(state: State, { market, order }: Taker): RefusalCode | null {
  const all = state.mode;
  const own = market.mode;
  if (all === 'OPEN' && own === 'OPEN') return null;
  if (own === 'RESOLVED') return 'market_resolved';
  if (all === 'HALTED') return 'system_paused';
  if (own === 'HALTED') return 'condition_paused';
  if (all === 'CANCEL_ONLY' || own === 'CANCEL_ONLY') return 'cancel_only';
  return order.postOnly ? null : 'post_only_mode';
}

function checkForm({ market, order, rests }: Taker): RefusalCode | null {
  const { price, sizeMicro } = order;
  if (order.postOnly && !rests) return 'invalid_post_only_order_type';
  if (price < market.tick || price > priceOne - market.tick) return 'invalid_tick_size';
  if (price % market.tick !== 0) return 'invalid_tick_size';
  if (order.budgetMicro !== 0) return checkBudget(order, rests);
  if (sizeMicro <= 0 || sizeMicro > orderSizeMaxMicro) return 'invalid_amounts';
  if (sizeMicro % lotMicro !== 0) return 'invalid_amounts';
  return rests && sizeMicro < market.minSizeMicro ? 'invalid_size' : null;
}

/** A budget is for market buys and pays at least one lot at the limit; the size is only what the client named. */
function checkBudget(order: PlaceOrder, rests: boolean): RefusalCode | null {
  const { budgetMicro } = order;
  if (rests || order.side === 'SELL') return 'invalid_amounts';
  if (budgetMicro < order.price || budgetMicro > orderSizeMaxMicro) return 'invalid_amounts';
  return order.sizeMicro < 0 ? 'invalid_amounts' : null;
}

function checkExpiry(state: State, order: PlaceOrder): RefusalCode | null {
  const { expiresAtMs } = order;
  const isRight = order.timeInForce === 'GTD' ? expiresAtMs > state.timeMs : expiresAtMs === 0;
  return isRight ? null : 'invalid_expiration';
}

/** In seconds, as clients state them. */
function checkLifetime(state: State, order: PlaceOrder): RefusalCode | null {
  if (state.rules < rules.gtdLifetime || order.timeInForce !== 'GTD') return null;
  const seconds = secondOf(order.expiresAtMs) - secondOf(order.acceptedAtMs);
  return seconds < gtdBookedMinSeconds ? 'invalid_expiration' : null;
}

function secondOf(timeMs: number): number {
  return Math.floor(timeMs / 1_000);
}

function checkFunds(state: State, taker: Taker): RefusalCode | null {
  const { order } = taker;
  const isCovered = taker.isBuy
    ? requiredMicro(order, taker.market.feeRateBps) <= order.holdMicro
    : order.sizeMicro <= state.positions.freeMicro(taker.position, order.outcome);
  return isCovered ? null : 'insufficient_balance_or_allowance';
}

/** Micro-USDC that a BUY needs at most, its fee included. */
export function requiredMicro(order: PlaceOrder, feeRateBps: number): number {
  const { price, sizeMicro, budgetMicro } = order;
  return holdMicro({ side: 'BUY', price, sizeMicro, budgetMicro, feeRateBps });
}

/** A resting order needs a place among the open orders of its wallet, and a level whose total stays a safe integer. */
function checkRoom(state: State, taker: Taker): RefusalCode | null {
  const { wallet, market } = taker;
  if (!taker.rests) return null;
  if (!hasRoom(state, wallet)) return 'too_many_open_orders';
  const levelLots = state.book.levelLots(market.slot, taker.isBid, taker.limit0);
  return levelLots + taker.lotsLeft > levelLotsMax ? 'too_many_open_orders' : null;
}

/** Largest total of a level, so that it is a safe integer in micro-shares. */
const levelLotsMax = Math.floor(Number.MAX_SAFE_INTEGER / lotMicro);
