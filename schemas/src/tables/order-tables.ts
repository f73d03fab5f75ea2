import {
  column,
  market,
  orderId,
  outcome,
  price,
  shares,
  side,
  source,
  time,
  version,
  wallet,
} from './columns.ts';
import type { Table } from './create-table.ts';

export const orderEvents: Table = {
  name: 'order_events',
  comment: 'Everything that happened to an order, from placement or refusal to its end.',
  columns: [
    ...source,
    time,
    orderId('order_id', 'The order.'),
    column(
      'kind',
      "Enum8('PLACED' = 0, 'REFUSED' = 1, 'FILLED' = 2, 'CANCELED' = 3, 'DELAYED' = 4)",
      'FILLED rows of a taker precede its PLACED row; DELAYED is followed by PLACED or REFUSED.',
    ),
    wallet,
    column('api_key', 'FixedString(36)', 'The key it came in with.'),
    market,
    outcome,
    side('side', 'In terms of its token; of PLACED, DELAYED and FILLED rows.'),
    column('time_in_force', "Enum8('GTC' = 0, 'GTD' = 1, 'FOK' = 2, 'FAK' = 3)", 'Of PLACED rows.'),
    price('price', 'Limit (PLACED), price of its token (FILLED).'),
    shares('size', 'Asked for (PLACED), filled (FILLED), left (CANCELED).'),
    shares('resting', 'Left on the book after it.'),
    column(
      'expires_at',
      "DateTime64(3, 'UTC')",
      'GTD: when it leaves the book; the epoch when never.',
    ),
    column('accepted_at', "DateTime64(3, 'UTC')", 'When ingress took it; of PLACED rows.'),
    column(
      'status',
      "Enum8('NONE' = 0, 'LIVE' = 1, 'MATCHED' = 2, 'CANCELED' = 3, 'DELAYED' = 4)",
      'Of PLACED rows.',
    ),
    column('reason', 'LowCardinality(String)', 'Refusal code or reason of the cancel; else empty.'),
    column('role', "Enum8('TAKER' = 0, 'MAKER' = 1)", 'Of FILLED rows.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['order_id', 'partition', 'in_offset', 'event_index', 'role'],
};

/**
 * What a row of `order_events` has in the columns that do not apply to its kind: `NONE`, the epoch, zeros. Prices in
 * 1/10000 USDC, amounts in micro-shares, times in Unix milliseconds.
 */
export const blankOrderEvent = {
  outcome: 0,
  side: 'BUY',
  timeInForce: 'GTC',
  price: 0,
  sizeMicro: 0,
  restingMicro: 0,
  expiresAtMs: 0,
  acceptedAtMs: 0,
  status: 'NONE',
  reason: '',
  role: 'TAKER',
} as const;

export const openOrders: Table = {
  name: 'open_orders',
  comment:
    'Orders that rest on a book now; read with FINAL, which leaves out the ended ones. What became of each is in `order_events`.',
  columns: [
    wallet,
    orderId('order_id', 'The order.'),
    column('api_key', 'FixedString(36)', 'The key it came in with.'),
    market,
    column('outcome', 'UInt8', 'Token of the pair, 0 or 1; 0 in rows of ended orders.'),
    column(
      'placed_at',
      "DateTime64(3, 'UTC')",
      'Clock of the partition when it was placed; the epoch in rows of ended orders.',
    ),
    column('partition', 'UInt16', 'Partition of the topic executions.'),
    version,
    column('ended', 'UInt8', '1 when it has left the book.'),
  ],
  engine: 'ReplacingMergeTree(version, ended)',
  orderBy: ['wallet', 'order_id'],
  indexGranularity: 1024,
  settings: ['allow_experimental_replacing_merge_with_cleanup = 1'],
};

export const walletCancels: Table = {
  name: 'wallet_cancels',
  comment: 'The CANCELED rows of `order_events` by wallet and time.',
  columns: [
    ...source,
    time,
    wallet,
    orderId('order_id', 'The order.'),
    column('api_key', 'FixedString(36)', 'The key it came in with.'),
    market,
    column('reason', 'LowCardinality(String)', 'Reason of the cancel.'),
    shares('size', 'Left when it was canceled.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['wallet', 'time', 'partition', 'in_offset', 'event_index'],
};
