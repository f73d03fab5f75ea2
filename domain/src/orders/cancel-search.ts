import type { CanceledRow, OrderEventRow } from './order-read.ts';

/** A cancel of one of the caller's orders. */
export type CancelRow = Pick<
  CanceledRow,
  'partition' | 'inOffset' | 'eventIndex' | 'timeMs' | 'orderId' | 'apiKey' | 'market' | 'reason'
>;

export interface CancelSearch {
  readonly wallets: readonly string[];
  readonly keys: ReadonlySet<string>;
  /** Unix milliseconds, inclusive. */
  readonly sinceMs: number;
  readonly limit: number;
}

export function recentCancels(
  rows: readonly OrderEventRow[],
  { wallets, sinceMs }: CancelSearch,
): readonly CancelRow[] {
  const own = new Set(wallets);
  return rows
    .filter((row) => row.kind === 'CANCELED')
    .filter((row) => own.has(row.wallet) && row.timeMs >= sinceMs);
}
