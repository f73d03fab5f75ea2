import type { PlaceOrder } from '@pm/schemas/log/orders';
import type { Output } from '../record.ts';
import { codeOfFlags, sellFlag, statusMask, statusOfFlags } from '../state/order-results.ts';
import type { State } from '../state/state.ts';

/**
 * An order whose id is remembered (at `slot` of the order memory) is not placed again. Its result is the first one,
 * with the place of its first fills in the log and whether it still rests or waits.
 */
export function repeatOrder(state: State, order: PlaceOrder, slot: number, out: Output): void {
  const memory = state.orderMemory;
  const flags = memory.flags(slot);
  const fills = memory.firstFills(slot);
  out.events.push({
    kind: 'OrderRepeated',
    command: out.command,
    orderId: order.orderId,
    maker: order.maker,
    alive: memory.order(slot) !== -1,
    code: codeOfFlags(flags),
    status: statusOfFlags[flags & statusMask] ?? 'LIVE',
    side: (flags & sellFlag) === 0 ? 'BUY' : 'SELL',
    filledMicro: fills.filledMicro,
    paidMicro: fills.paidMicro,
    placedAtOffset: fills.offset,
    firstFill: fills.first,
    fillCount: fills.count,
  });
}
