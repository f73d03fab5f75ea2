import type { OrderEventRow } from './order-read.ts';

/** Rows of several orders, apart. */
export function rowsByOrder(
  rows: readonly OrderEventRow[],
): ReadonlyMap<string, readonly OrderEventRow[]> {
  const found = new Map<string, OrderEventRow[]>();
  for (const row of rows) {
    const known = found.get(row.orderId);
    if (known === undefined) found.set(row.orderId, [row]);
    else known.push(row);
  }
  return found;
}
