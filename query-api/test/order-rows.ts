import type { OrderEventRow } from '../src/orders/order-read.ts';
import { apiKey, wallet } from './in-memory.ts';

export const orderId = `0x${'ab'.repeat(32)}`;

/** A row of `order_events`: the placement of an order that rests, with changes. */
export const orderRow = (changes: Partial<OrderEventRow> = {}): OrderEventRow => ({
  partition: 3,
  inOffset: '77',
  eventIndex: 0,
  timeMs: Date.UTC(2026, 5, 1, 12),
  orderId,
  kind: 'PLACED',
  wallet: wallet(1),
  apiKey: apiKey(1),
  market: 1,
  outcome: 0,
  side: 'BUY',
  timeInForce: 'GTC',
  price: 5200,
  sizeMicro: 10_000_000,
  restingMicro: 10_000_000,
  expiresAtMs: 0,
  acceptedAtMs: Date.UTC(2026, 5, 1, 12),
  status: 'LIVE',
  reason: '',
  role: 'TAKER',
  ...changes,
});
