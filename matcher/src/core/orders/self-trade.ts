import { rules } from '@pm/schemas/log/log-rules';
import { at } from '../book/order-pool.ts';
import type { Output } from '../record.ts';
import type { State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';
import type { Taker } from './taker.ts';

/** The effect of a resting order in the taker's way: it fills, it is canceled, or the taker ends here. */
export type Interaction = 'fill' | 'expire' | 'clear' | 'end' | 'end-both';

/**
 * Overdue orders expire. Orders of the same owner follow the taker's mode of self-trade: ALLOW fills them,
 * CANCEL_OLDEST clears them away, CANCEL_NEWEST ends the taker, CANCEL_BOTH ends both. Each counts as an interaction,
 * like a fill.
 */
export function interactionWith(state: State, taker: Taker, maker: number): Interaction {
  if (state.isOverdue(maker)) return 'expire';
  if (!isOwn(state, taker, maker)) return 'fill';
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
 * Whether the taker would trade with itself: one owner signs for all its wallets. That a wallet has one owner is not
 * known here, so orders of one wallet are its own too.
 */
function isOwn({ book, orderMemory, rules: version }: State, taker: Taker, maker: number): boolean {
  if (book.orders.get(maker, at.wallet) === taker.wallet) return true;
  if (version < rules.selfTradeBySigner) return false;
  return orderMemory.isSignedByWords(book.orders.get(maker, at.memory), taker.signer, 0);
}

/**
 * The first order in the taker's way that it does not clear away, or -1; `clearedFirst` counts those it clears before.
 * A post-only order clears only overdue ones away.
 */
export function firstUncleared(state: State, taker: Taker): number {
  const { order, market, isBid, limit0 } = taker;
  let before = 0;
  let maker = state.book.firstMaker(market.slot, isBid, limit0);
  for (; maker !== -1 && before <= taker.interactionsLeft; before += 1) {
    const interaction = interactionWith(state, taker, maker);
    if (interaction !== 'expire' && (interaction !== 'clear' || order.postOnly)) break;
    maker = state.book.nextMaker(maker, isBid, limit0);
  }
  taker.clearedFirst = before;
  return maker;
}

/**
 * For a taker that is refused with `self_trade`: under CANCEL_BOTH the order of the same owner that it meets first is
 * canceled with it. A FOK order cancels nothing, because it meets no order unless it can fill completely.
 */
export function cancelOwnMaker(state: State, taker: Taker, out: Output): void {
  const { selfTrade, timeInForce } = taker.order;
  if (selfTrade !== 'CANCEL_BOTH' || timeInForce === 'FOK') return;
  const maker = firstUncleared(state, taker);
  out.fillsLeft -= 1;
  cancelResting(state, maker, 'SELF_TRADE', out);
}
