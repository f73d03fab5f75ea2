import type { Output } from '../record.ts';
import type { Market } from '../state/markets.ts';
import type { State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';
import { refuseDelayed, releaseDue } from './release-delayed.ts';

/**
 * Ends what is due at the head of every record, before its commands, as far as the record's budgets go.
 *
 * Promises: first overdue orders expire, by expiry and arrival, and those that came too late are canceled; then the
 * orders of resolved markets are canceled, by market number, price of token 0 and arrival, and each market's delayed
 * orders are refused; then orders whose delay is over are released, by its end and arrival. What is left of the first
 * two never fills: a taker clears overdue orders out of its way (self-trade.ts), and resolved markets accept no orders.
 */
export function endDueOrders(state: State, out: Output): void {
  expireOrders(state, out);
  const { uncleared } = state.markets;
  while (uncleared.length > 0 && clearMarket(state, uncleared[0] as Market, out)) uncleared.shift();
  releaseDue(state, out);
}

/** Cancels overdue GTD orders, by expiry and arrival, then those that came too late, by arrival. */
export function expireOrders(state: State, out: Output): void {
  while (state.expiries.nextMs <= state.timeMs && out.cancelsLeft > 0) {
    out.cancelsLeft -= 1;
    const order = state.expiries.first;
    cancelResting(state, order, state.overdueReason(order), out);
  }
  for (const order of state.booked.lateOrders()) {
    if (out.cancelsLeft === 0) return;
    out.cancelsLeft -= 1;
    cancelResting(state, order, 'TOO_LATE', out);
  }
}

/**
 * Cancels the resting orders of a resolved market by price of token 0 and arrival, then refuses its delayed orders.
 * Returns whether none is left.
 */
export function clearMarket(state: State, market: Market, out: Output): boolean {
  const { slot } = market;
  let order = state.book.anyOrder(slot);
  for (; order !== -1 && out.cancelsLeft > 0; order = state.book.anyOrder(slot)) {
    out.cancelsLeft -= 1;
    cancelResting(state, order, 'MARKET', out);
  }
  refuseDelayed(state, market, out);
  return order === -1 && state.delays.countOf(market) === 0;
}
