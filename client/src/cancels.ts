import { type CancelResult, cancelsPerRequestMax, type RefusalCode, refusals } from '@pm/schemas';
import type { Connection } from './connection.ts';

/** Reasons in `not_canceled` that may change: the cancel is not confirmed yet. */
const passingTexts = new Set(
  (['cancel_unconfirmed', 'partition_not_ready'] satisfies RefusalCode[]).map(
    (code) => refusals[code].text,
  ),
);

/**
 * Cancels up to 3,000 orders by id; unconfirmed cancels are repeated within the retry budget. An order whose cancel was
 * carried out while the response was lost is in `not_canceled` as already canceled or matched: it does not rest any
 * more.
 */
export async function cancelOrders(
  connection: Connection,
  orderIds: readonly string[],
): Promise<CancelResult> {
  if (orderIds.length === 0 || orderIds.length > cancelsPerRequestMax) {
    throw new RangeError(`1 to ${cancelsPerRequestMax} orders go into a request`);
  }
  const retryBudget = connection.retryBudget();
  const canceled: string[] = [];
  let notCanceled: Readonly<Record<string, string>> = {};
  let open = orderIds;
  for (;;) {
    const result: CancelResult = await connection.signed(
      { method: 'DELETE', path: '/orders', body: open },
      { retryBudget },
    );
    canceled.push(...result.canceled);
    notCanceled = { ...notCanceled, ...result.not_canceled };
    open = Object.keys(result.not_canceled).filter((id) =>
      passingTexts.has(result.not_canceled[id] ?? ''),
    );
    if (open.length === 0 || !(await retryBudget.next(null))) break;
  }
  const done = new Set(canceled);
  const left = Object.entries(notCanceled).filter(([id]) => !done.has(id));
  return { canceled, not_canceled: Object.fromEntries(left) };
}
