import type { CancelAllResult } from '@pm/client';

/** Notice about orders that were in transit when all orders were canceled; null where there are none. */
export function openAfterCancel({
  in_transit,
}: Pick<CancelAllResult, 'in_transit'>): string | null {
  const count = in_transit.length;
  if (count === 0) return null;
  const orders = count === 1 ? 'One order was on its way' : `${count} orders were on their way`;
  return `The resting orders are canceled. ${orders} and may still be booked: look at the open orders.`;
}
