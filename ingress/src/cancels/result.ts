import {
  type CancelResult,
  type OrderId,
  orderIdFromBytes,
  type RefusalCode,
  refusals,
} from '@pm/schemas';
import type { PlacedEvent } from '../orders/order-result.ts';

/** Why orders without an event are not canceled, by order. */
export type Reasons = ReadonlyMap<OrderId, RefusalCode>;

const none: Reasons = new Map();

/** The result of cancel commands over all partitions that were asked; it has each order once. */
export function cancelResult(
  events: readonly PlacedEvent[],
  reasons: Reasons = none,
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
    not_canceled[orderId] = refusals[event.code].text;
  }
  for (const [orderId, code] of reasons) not_canceled[orderId] = refusals[code].text;
  return { canceled: [...canceled], not_canceled };
}
