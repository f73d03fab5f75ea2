import {
  column,
  market,
  nullable,
  ofEvent,
  orderId,
  price,
  shares,
  side,
  version,
  wallet,
} from './columns.ts';
import type { Table } from './create-table.ts';

/** The events of the log that end or refuse an order do not repeat its terms. */
const ofTerms = 'of PLACED, DELAYED and FILLED rows.';

export const orderEvents: Table = {
  name: 'order_events',
  comment:
    'Everything that happened to an order, from placement or refusal to its end. A column is NULL in rows of the kinds that it says nothing of.',
  columns: [
    ...ofEvent,
    orderId('order_id', 'The order.'),
    column(
      'kind',
      "Enum8('PLACED' = 0, 'REFUSED' = 1, 'FILLED' = 2, 'CANCELED' = 3, 'DELAYED' = 4)",
      'FILLED rows of a taker precede its PLACED row; DELAYED is followed by PLACED or REFUSED.',
    ),
    wallet,
    column('api_key', 'FixedString(36)', 'The key it came in with.'),
    market,
    nullable(column('outcome', 'UInt8', `Token of the pair, 0 or 1; ${ofTerms}`)),
    nullable(side('side', `In terms of its token; ${ofTerms}`)),
    nullable(
      column(
        'time_in_force',
        "Enum8('GTC' = 0, 'GTD' = 1, 'FOK' = 2, 'FAK' = 3)",
        'Of PLACED and DELAYED rows.',
      ),
    ),
    nullable(price('price', 'Limit (PLACED, DELAYED), price of its token (FILLED).')),
    nullable(
      shares(
        'size',
        'PLACED, DELAYED: asked for; of a market buy what its client named, in whole lots, while its budget may buy more. FILLED: filled. CANCELED: left. NULL if REFUSED.',
      ),
    ),
    shares('resting', 'On the book after the event; a taker is not yet, at its FILLED rows.'),
    nullable(
      column(
        'expires_at',
        "DateTime64(3, 'UTC')",
        'When it leaves the book, of PLACED and DELAYED rows of GTD orders.',
      ),
    ),
    nullable(
      column(
        'accepted_at',
        "DateTime64(3, 'UTC')",
        'When ingress took the order, by its wall clock, or its first attempt, by its client, up to 2 s before; of PLACED and DELAYED rows, and of FILLED rows of a taker.',
      ),
    ),
    nullable(
      column(
        'status',
        "Enum8('LIVE' = 0, 'MATCHED' = 1, 'CANCELED' = 2, 'DELAYED' = 3)",
        'Of PLACED and DELAYED rows.',
      ),
    ),
    column('reason', 'LowCardinality(String)', 'Refusal code or reason of the cancel; else empty.'),
    nullable(column('role', "Enum8('TAKER' = 0, 'MAKER' = 1)", 'Of FILLED rows.')),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  // A fill has two rows at one place, of two orders.
  orderBy: ['order_id', 'partition', 'in_offset', 'event_index'],
};

export const openOrders: Table = {
  name: 'open_orders',
  comment:
    'Orders that rest on a book now; read with FINAL, which leaves out the ended ones. What became of each is in `order_events`.',
  columns: [
    wallet,
    orderId('order_id', 'The order.'),
    column('api_key', 'FixedString(36)', 'The key it came in with.'),
    market,
    nullable(
      column('outcome', 'UInt8', 'Token of the pair, 0 or 1; NULL in rows of ended orders.'),
    ),
    nullable(
      column(
        'placed_at',
        "DateTime64(3, 'UTC')",
        'Clock of the partition when it was placed; NULL in rows of ended orders.',
      ),
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
    ...ofEvent,
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
