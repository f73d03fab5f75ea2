import type { EventOf } from '@pm/schemas/log/executions';
import type { CancelReason } from '@pm/schemas/log/types';
import { lotMicro, notionalMicro } from '@pm/schemas/money';
import { at } from '../book/order-pool.ts';
import { writeCanceled } from '../events/write-events.ts';
import type { Output } from '../record.ts';
import type { State } from '../state/state.ts';

/** Cancels a resting order: its held money or locked tokens are free again. */
export function cancelResting(
  state: State,
  order: number,
  reason: CancelReason,
  out: Output,
): void {
  writeCanceled(state, order, reason, out);
  unlockFunds(state, order);
  state.detach(order, false);
}

/** Cancels a resting order like `cancelResting`, but the caller writes the event later. */
export function removeResting(
  state: State,
  order: number,
  reason: CancelReason,
  { command }: Output,
): EventOf<'OrderCanceled'> {
  const { orders } = state.book;
  const event = {
    kind: 'OrderCanceled',
    command,
    orderId: state.idOf(order),
    market: state.marketOf(order).number,
    maker: state.wallets.bytes(orders.get(order, at.wallet)),
    apiKey: state.accounts.apiKey(orders.get(order, at.account)),
    reason,
    restMicro: orders.get(order, at.restLots) * lotMicro,
  } as const;
  unlockFunds(state, order);
  state.detach(order, false);
  return event;
}

function unlockFunds(state: State, order: number): void {
  const { orders } = state.book;
  const restMicro = orders.get(order, at.restLots) * lotMicro;
  if (state.isBuy(order)) {
    const heldMicro = notionalMicro(state.ownPrice(order), restMicro);
    state.wallets.move(orders.get(order, at.wallet), heldMicro, -heldMicro);
  } else {
    state.unlock(orders.get(order, at.position), orders.outcome(order), restMicro);
  }
}
