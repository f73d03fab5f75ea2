import type { PlaceOrder, RefusalCode } from '@pm/schemas';
import { flagsOfCode, sellFlag } from '../state/id-memory.ts';
import type { Output, State } from '../state/state.ts';
import { cancelResting } from './cancel-resting.ts';
import { firstToMeet, type Taker } from './taker.ts';

/** The answer to a refused order, as the memory keeps it. */
export function flagsOfRefusal(order: PlaceOrder, code: RefusalCode): number {
  return flagsOfCode(code) | (order.side === 'BUY' ? 0 : sellFlag);
}

/**
 * Under CANCEL_BOTH the order of its own wallet that it meets first ends with it. A FOK order changes nothing: it does not
 * meet anybody before it could fill whole.
 */
export function endBoth(state: State, taker: Taker, out: Output): void {
  const { selfTrade, timeInForce } = taker.order;
  if (selfTrade !== 'CANCEL_BOTH' || timeInForce === 'FOK') return;
  const maker = firstToMeet(state, taker);
  out.fillsLeft -= 1;
  cancelResting(state, maker, 'SELF_TRADE', out);
}
