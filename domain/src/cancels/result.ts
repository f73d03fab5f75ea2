import type { CancelResult } from '@pm/schemas/http/trading';
import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { PlacedEvent } from '../orders/order-result.ts';

/** Why orders without an event are not canceled, by order. */
export type Reasons = ReadonlyMap<OrderId, RefusalCode>;

const none: Reasons = new Map();

/** The result of cancel commands over all partitions that were asked; it has each order once. */
export function cancelResult(
  events: readonly PlacedEvent[],
  reasons: Reasons = none,
): CancelResult {
  const canceled = new Set<OrderId>();
  for (const { event } of events) {
    if (event.kind === 'OrderCanceled') canceled.add(orderIdFromBytes(event.orderId));
  }
  const codes = new Map<OrderId, RefusalCode>();
  for (const { event } of events) {
    if (event.kind !== 'CancelRefused') continue;
    const orderId = orderIdFromBytes(event.orderId);
    if (!canceled.has(orderId)) codes.set(orderId, event.code);
  }
  for (const [orderId, code] of reasons) codes.set(orderId, code);
  const texts = [...codes].map(([orderId, code]) => [orderId, refusals[code].text] as const);
  const result = { canceled: [...canceled], not_canceled: Object.fromEntries(texts) };
  if (codes.size === 0) return result;
  return { ...result, not_canceled_codes: Object.fromEntries(codes) };
}
