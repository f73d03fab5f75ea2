import type { Market } from '../state/markets.ts';
import type { Output, State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';
import { refuseDelayed, releaseDue } from './release-delayed.ts';

/**
 * Does what is due whoever asks, as far as the record's budgets go.
 *
 * Promises: at the head of every record, before its commands, first overdue orders by expiry and arrival, then what rests
 * in resolved markets by market number, price of token 0 and arrival, each followed by what is delayed there, then orders
 * whose delay is over, by its end and arrival. What is left of the first two never fills: a taker clears overdue orders
 * out of his way (match.ts), and resolved markets take no orders.
 */
export function sweep(state: State, out: Output): void {
  expireDue(state, out);
  const { unswept } = state.markets;
  while (unswept.length > 0 && sweepMarket(state, unswept[0] as Market, out)) unswept.shift();
  releaseDue(state, out);
}

/** By expiry and arrival. */
export function expireDue(state: State, out: Output): void {
  while (state.expiries.nextMs <= state.timeMs && out.cancelsLeft > 0) {
    out.cancelsLeft -= 1;
    cancelResting(state, state.expiries.first, 'EXPIRED', out);
  }
}

/** What rests by price of token 0 and arrival, then what is delayed; gives whether nothing is left. */
export function sweepMarket(state: State, market: Market, out: Output): boolean {
  const { slot } = market;
  let order = state.book.anyOrder(slot);
  for (; order !== -1 && out.cancelsLeft > 0; order = state.book.anyOrder(slot)) {
    out.cancelsLeft -= 1;
    cancelResting(state, order, 'MARKET', out);
  }
  refuseDelayed(state, market, out);
  return order === -1 && state.delays.countOf(market) === 0;
}
