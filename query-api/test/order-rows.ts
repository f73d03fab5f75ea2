import type {
  CanceledRow,
  FilledRow,
  OrderEventRow,
  StatedRow,
} from '@pm/domain/orders/order-read';
import { apiKey, wallet } from './in-memory.ts';

export const orderId = `0x${'ab'.repeat(32)}`;

type Changes = Partial<
  Omit<StatedRow, 'kind'> & Omit<FilledRow, 'kind'> & Omit<CanceledRow, 'kind'>
> & {
  readonly kind?: OrderEventRow['kind'];
};

/** A row of `order_events`: the placement of an order that rests, with changes. */
export function orderRow(changes: Changes & { readonly kind: 'CANCELED' }): CanceledRow;
export function orderRow(changes?: Changes): OrderEventRow;
export function orderRow(changes: Changes = {}): OrderEventRow {
  const { outcome = 0, side = 'BUY', price = 5200, sizeMicro = 10_000_000, ...given } = changes;
  const { timeInForce = 'GTC', expiresAtMs = 0, status = 'LIVE', reason = '' } = given;
  const { restingMicro = 10_000_000, role = 'TAKER', kind = 'PLACED' } = given;
  const timeMs = Date.UTC(2026, 5, 1, 12);
  const place = {
    partition: given.partition ?? 3,
    inOffset: given.inOffset ?? '77',
    eventIndex: given.eventIndex ?? 0,
    timeMs: given.timeMs ?? timeMs,
    orderId: given.orderId ?? orderId,
    wallet: given.wallet ?? wallet(1),
    apiKey: given.apiKey ?? apiKey(1),
    market: given.market ?? 1,
  };
  if (kind === 'CANCELED') return { ...place, kind, sizeMicro, reason };
  if (kind === 'REFUSED') return { ...place, kind, reason };
  const priced = { ...place, outcome, side, price, sizeMicro, restingMicro };
  if (kind === 'FILLED') return { ...priced, kind, role };
  const acceptedAtMs = given.acceptedAtMs ?? timeMs;
  return { ...priced, kind, timeInForce, expiresAtMs, acceptedAtMs, status };
}
