import { lotMicro, notionalMicro } from '@pm/schemas/money';
import type { RefusalCode } from '@pm/schemas/refusals';
import { at } from '../book/order-pool.ts';
import type { State } from '../state/state.ts';
import { firstUncleared, interactionWith } from './self-trade.ts';
import { isComplete, lotsTaken, type Taker, takerPrice } from './taker.ts';

/**
 * Looks at the resting orders a taker would meet, and gives a refusal, or null when it may be placed.
 *
 *   - FOK: it can fill completely, without a self-trade that ends it;
 *   - FAK: it can fill something;
 *   - post-only: it meets no order, not even one of the same owner;
 *   - GTC, GTD and FAK: the first order it meets is no self-trade that ends it (self-trade.ts).
 *
 * Orders that would be cleared away do not count as makers, but clearing them counts as an interaction.
 */
export function checkOrderType(state: State, taker: Taker): RefusalCode | null {
  const { order } = taker;
  if (order.timeInForce === 'FOK') return checkFillOrKill(state, taker);
  const maker = firstUncleared(state, taker);
  const before = taker.clearedFirst;
  if (before > taker.interactionsLeft) return 'fill_limit';
  if (order.postOnly) return maker === -1 ? null : 'post_only_would_cross';
  if (maker === -1) return refusalWithoutMaker(taker);
  if (interactionWith(state, taker, maker) === 'end') return 'self_trade';
  if (before === taker.interactionsLeft) return 'fill_limit';
  return interactionWith(state, taker, maker) === 'end-both' ? 'self_trade' : null;
}

/** An order that meets nothing rests if it may. A delayed order that a cancel covers may not, and ends as `fenced`. */
function refusalWithoutMaker(taker: Taker): RefusalCode | null {
  if (taker.rests) return null;
  return taker.order.timeInForce === 'FAK' ? 'fak_not_filled' : 'fenced';
}

/** Walks the makers as matching would, without a fill. */
function checkFillOrKill(state: State, taker: Taker): RefusalCode | null {
  const rest = { ...taker };
  let maker = state.book.firstMaker(taker.market.slot, taker.isBid, taker.limit0);
  for (; !isComplete(rest); rest.interactionsLeft -= 1) {
    if (maker === -1) return 'fok_not_filled';
    const interaction = interactionWith(state, taker, maker);
    if (interaction === 'end' || interaction === 'end-both') return 'self_trade';
    if (rest.interactionsLeft === 0) return 'fill_limit';
    if (interaction === 'fill' && !countFill(state, rest, maker)) return 'fok_not_filled';
    maker = state.book.nextMaker(maker, taker.isBid, taker.limit0);
  }
  return null;
}

/** Counts a fill without making it; false when there would be none. */
function countFill(state: State, rest: Taker, maker: number): boolean {
  const price = takerPrice(rest, state.book.orders.price0(maker));
  const lots = lotsTaken(rest, price, state.book.orders.get(maker, at.restLots));
  rest.lotsLeft -= lots;
  if (rest.hasBudget) rest.budgetLeftMicro -= notionalMicro(price, lots * lotMicro);
  return lots > 0;
}
