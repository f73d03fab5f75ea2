import { type CancelResult, type OrderId, orderIdFromBytes, refusals } from '@pm/schemas';
import type { PlacedEvent } from './placement-answer.ts';

/** What the events of cancel commands say, over all partitions that were asked. */
export function cancelResult(events: readonly PlacedEvent[]): CancelResult {
  const canceled: string[] = [];
  const not_canceled: Record<string, string> = {};
  for (const { event } of events) {
    if (event.kind === 'OrderCanceled') canceled.push(orderIdFromBytes(event.orderId));
  }
  for (const { event } of events) {
    if (event.kind !== 'CancelRefused') continue;
    const orderId = orderIdFromBytes(event.orderId);
    if (canceled.includes(orderId)) continue;
    // Asked in several partitions, all but the order's own say "not found": what the own one says counts.
    if (event.code === 'order_not_found' && not_canceled[orderId] !== undefined) continue;
    not_canceled[orderId] = refusals[event.code].text;
  }
  return { canceled, not_canceled };
}

/** Whether the events settle this one order: it was canceled, or its own partition knows why not. */
export function settlesCancel(events: readonly PlacedEvent[], orderId: OrderId): boolean {
  return events.some(({ event }) => {
    if (event.kind === 'OrderCanceled') return orderIdFromBytes(event.orderId) === orderId;
    return event.kind === 'CancelRefused' && event.code !== 'order_not_found';
  });
}
