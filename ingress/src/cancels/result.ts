import {
  type CancelResult,
  type OrderId,
  orderIdFromBytes,
  type RefusalCode,
  refusals,
} from '@pm/schemas';
import type { PlacedEvent } from '../orders/order-result.ts';

/** Why the results of some cancels are not known: they may still happen. */
export type Unsettled = ReadonlyMap<OrderId, RefusalCode>;

const none: Unsettled = new Map();

/** The result of cancel commands over all partitions that were asked; it has each order once. */
export function cancelResult(
  events: readonly PlacedEvent[],
  unsettled: Unsettled = none,
): CancelResult {
  const canceled = new Set<string>();
  const not_canceled: Record<string, string> = {};
  for (const { event } of events) {
    if (event.kind === 'OrderCanceled') canceled.add(orderIdFromBytes(event.orderId));
  }
  for (const { event } of events) {
    if (event.kind !== 'CancelRefused') continue;
    const orderId = orderIdFromBytes(event.orderId);
    if (canceled.has(orderId)) continue;
    // Asked in several partitions, all but the order's own say "not found": what the own one says counts.
    if (event.code === 'order_not_found' && not_canceled[orderId] !== undefined) continue;
    not_canceled[orderId] = refusals[event.code].text;
  }
  for (const [orderId, code] of unsettled) not_canceled[orderId] = refusals[code].text;
  return { canceled: [...canceled], not_canceled };
}

/** Whether the events settle this one order: it was canceled, or its own partition knows why not. */
export function settlesCancel(events: readonly PlacedEvent[], orderId: OrderId): boolean {
  return events.some(({ event }) => {
    if (event.kind === 'OrderCanceled') return orderIdFromBytes(event.orderId) === orderId;
    return event.kind === 'CancelRefused' && event.code !== 'order_not_found';
  });
}
