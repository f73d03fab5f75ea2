import type { Market } from './markets.ts';
import type { Output, State } from './state.ts';

/**
 * Takes off the books what no longer belongs there, as far as the record's budget of cancels goes.
 *
 * Promises: at the head of every record, before its commands, first overdue orders by expiry and arrival, then what rests
 * in resolved markets by market number, price of token 0 and arrival. What is left of them never fills: a taker clears
 * overdue orders out of his way (match.ts), and resolved markets take no orders.
 */
export function sweep(state: State, out: Output): void {
  expireDue(state, out);
  const { unswept } = state.markets;
  while (unswept.length > 0 && sweepMarket(state, unswept[0] as Market, out)) unswept.shift();
}

/** By expiry and arrival. */
export function expireDue(state: State, out: Output): void {
  while (state.expiries.nextMs <= state.timeMs && out.cancelsLeft > 0) {
    out.cancelsLeft -= 1;
    state.cancel(state.expiries.first, 'EXPIRED', out);
  }
}

/** By price of token 0 and arrival; gives whether nothing is left. */
export function sweepMarket(state: State, { slot }: Market, out: Output): boolean {
  let order = state.book.anyOrder(slot);
  for (; order !== -1 && out.cancelsLeft > 0; order = state.book.anyOrder(slot)) {
    out.cancelsLeft -= 1;
    state.cancel(order, 'MARKET', out);
  }
  return order === -1;
}
