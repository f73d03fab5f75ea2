import {
  column,
  market,
  matchType,
  nullable,
  ofEvent,
  orderId,
  outcome,
  price,
  shares,
  side,
  usdc,
  version,
  wallet,
  zstd,
} from './columns.ts';
import type { Table } from './create-table.ts';
import { openOrders, orderEvents, walletCancels } from './order-tables.ts';

const fills: Table = {
  name: 'fills',
  comment: 'One row per meeting of a taker and a maker.',
  columns: [
    ...ofEvent,
    market,
    matchType,
    nullable(
      column(
        'accepted_at',
        "DateTime64(3, 'UTC')",
        'When ingress took the order of the taker, by its wall clock, or its first attempt, by its client, up to 2 s before.',
      ),
    ),
    shares('size', 'Filled.'),
    orderId('taker_order', 'Order id of the taker.'),
    column('taker', 'FixedString(42)', 'Wallet of the taker, lower case.'),
    column('taker_key', 'FixedString(36)', 'API key of the taker.'),
    column('taker_outcome', 'UInt8', 'Token of the taker, 0 or 1.'),
    side('taker_side', 'Side of the taker in terms of his token.'),
    price('taker_price', 'Price of the taker’s token.'),
    column('taker_builder', 'FixedString(66)', 'Builder code of the taker; zero when none.'),
    orderId('maker_order', 'Order id of the maker.'),
    column('maker', 'FixedString(42)', 'Wallet of the maker, lower case.'),
    column('maker_key', 'FixedString(36)', 'API key of the maker.'),
    column('maker_outcome', 'UInt8', 'Token of the maker, 0 or 1.'),
    side('maker_side', 'Side of the maker in terms of his token.'),
    price('maker_price', 'Price of the maker’s token.'),
    column('maker_builder', 'FixedString(66)', 'Builder code of the maker; zero when none.'),
    usdc('fee', 'Paid by the taker.'),
    column('fee_rate_bps', 'UInt16', 'Rate of the fee curve in basis points.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['market', 'time', 'partition', 'in_offset', 'event_index'],
};

const walletFills: Table = {
  name: 'wallet_fills',
  comment: 'Two rows per fill, one for each wallet: the ledger of trades by wallet.',
  columns: [
    ...ofEvent,
    wallet,
    column('role', "Enum8('TAKER' = 0, 'MAKER' = 1)", 'Which side of the fill.'),
    market,
    outcome,
    side('side', 'In terms of the wallet’s token.'),
    price('price', 'Of the wallet’s token.'),
    shares('size', 'Filled.'),
    usdc('fee', 'Paid by this wallet.'),
    orderId('order_id', 'Its order.'),
    column('api_key', 'FixedString(36)', 'The key its order came in with.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['wallet', 'time', 'partition', 'in_offset', 'event_index', 'role'],
};

const walletMoves: Table = {
  name: 'wallet_moves',
  comment:
    'Tokens that came or went other than by a fill, a row per token: with `wallet_fills` the whole ledger of positions.',
  columns: [
    ...ofEvent,
    wallet,
    column(
      'action',
      "Enum8('SPLIT' = 0, 'MERGE' = 1, 'REDEEM' = 2)",
      'SPLIT brings tokens, MERGE and REDEEM take them.',
    ),
    market,
    outcome,
    price('price', 'What a token counts as: one half, or what it pays at redemption.'),
    shares('size', 'Moved.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['wallet', 'time', 'partition', 'in_offset', 'event_index', 'outcome'],
};

const tape: Table = {
  name: 'tape',
  comment: 'What `wallet_fills` says of trades in the order of time, of all wallets.',
  columns: [
    ...ofEvent,
    column('role', "Enum8('TAKER' = 0, 'MAKER' = 1)", 'Which side of the fill.'),
    wallet,
    market,
    outcome,
    side('side', 'In terms of the wallet’s token.'),
    price('price', 'Of the wallet’s token.'),
    shares('size', 'Filled.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['time', 'partition', 'in_offset', 'event_index', 'role'],
};

/** Columns of `fills` that say nothing of API keys and builders. */
const publicFillColumns = fills.columns.filter(
  ({ name }) => !/_(key|builder)$/.test(name) && name !== 'match' && name !== 'accepted_at',
);

const builderFills: Table = {
  name: 'builder_fills',
  comment: 'A row per side of a fill whose order names a builder, in the order of time.',
  columns: [
    ...publicFillColumns,
    column('role', "Enum8('TAKER' = 0, 'MAKER' = 1)", 'Which side names the builder.'),
    column('builder', 'FixedString(66)', 'Builder code of that side, lower case.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['time', 'partition', 'in_offset', 'event_index', 'role'],
  indexGranularity: 2048,
  indexes: [
    'builders builder TYPE bloom_filter(0.01) GRANULARITY 4',
    // By an expression, since no index serves a condition on one column or another.
    "owners if(role = 'TAKER', taker, maker) TYPE bloom_filter(0.01) GRANULARITY 1",
    'markets market TYPE bloom_filter(0.01) GRANULARITY 4',
    'places in_offset TYPE minmax GRANULARITY 1',
  ],
};

const resolutions: Table = {
  name: 'resolutions',
  comment: 'When a market was resolved and what its tokens pay.',
  columns: [
    ...ofEvent,
    market,
    price('payout0', 'What token 0 pays; token 1 pays the rest of 1.'),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  orderBy: ['market'],
};

const bookEvents: Table = {
  name: 'book_events',
  comment:
    'New total of a price level in terms of token 0; the newest row of each level is the book.',
  columns: [
    ...ofEvent,
    market,
    side('side', 'BUY is a bid, SELL an ask, of token 0.'),
    price('price', 'Of token 0.'),
    shares('size', 'Resting at this price after the record; 0 when none.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['market', 'time', 'in_offset', 'event_index', 'partition'],
};

/**
 * For a table read with FINAL: parts older than an hour are merged into one part, seconds. Each part more makes such a
 * read more expensive, and merges by size alone leave one part for every power of two.
 */
const mergedHourly = ['min_age_to_force_merge_seconds = 3600'];

const positions: Table = {
  name: 'positions',
  comment: 'What each wallet holds of each token, by average cost; one row per wallet and token.',
  columns: [
    wallet,
    market,
    outcome,
    column('partition', 'UInt16', 'Partition of the topic executions.'),
    shares('size', 'Held.'),
    usdc('cost', 'Cost of what is held, average-cost method, fees excluded.'),
    usdc('total_bought', 'Cost of all buys.'),
    shares('shares_bought', 'Bought in all.'),
    usdc('realized_pnl', 'Proceeds of sells, merges and redemptions less their average cost.'),
    usdc('volume', 'Notional traded.'),
    column('updated', "DateTime64(3, 'UTC')", 'Last change.'),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  orderBy: ['wallet', 'market', 'outcome'],
  indexGranularity: 1024,
  settings: mergedHourly,
};

const holders: Table = {
  name: 'holders',
  comment: 'What `positions` says, sorted by token.',
  columns: [
    market,
    outcome,
    wallet,
    shares('size', 'Held.'),
    usdc('cost', 'Cost of what is held.'),
    usdc('total_bought', 'Cost of all buys.'),
    usdc('realized_pnl', 'As in `positions`.'),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  orderBy: ['market', 'outcome', 'wallet'],
  indexGranularity: 1024,
  settings: mergedHourly,
};

const bucket = column('bucket', "DateTime('UTC')", 'Start of the minute, UTC.', `Delta, ${zstd}`);

/**
 * Best prices of a minute as they are shown: 0 and 1 for an empty side. Not NULL, which `argMax` skips: it would find
 * the last price that there was.
 */
export const shownSides = {
  bid: 'ifNull(bid, toDecimal32(0, 4))',
  ask: 'ifNull(ask, toDecimal32(1, 4))',
} as const;

const midpoints: Table = {
  name: 'midpoints_1m',
  comment:
    'Best bid and ask at the end of each minute in terms of token 0; minutes without change have no row. `bucket` is the start of the minute: a moment within it has the row of the minute before.',
  columns: [
    market,
    bucket,
    nullable(
      column(
        'midpoint',
        'Decimal(9, 6)',
        'Halfway between best bid and best ask of token 0; NULL when a side was empty. USDC.',
      ),
    ),
    nullable(price('bid', 'Best bid of token 0; NULL when there was none.')),
    nullable(price('ask', 'Best ask of token 0; NULL when there was none.')),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  partitionBy: 'toYYYYMM(bucket)',
  orderBy: ['market', 'bucket'],
  indexGranularity: 2048,
};

const candles: Table = {
  name: 'candles_1m',
  comment: 'Trades of each minute per token, as absolute values.',
  columns: [
    market,
    outcome,
    bucket,
    price('open', 'First trade.'),
    price('high', 'Highest trade.'),
    price('low', 'Lowest trade.'),
    price('close', 'Last trade.'),
    shares('volume', 'Traded.'),
    usdc('notional', 'Traded.'),
    column('trades', 'UInt32', 'Fills.'),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  partitionBy: 'toYYYYMM(bucket)',
  orderBy: ['market', 'outcome', 'bucket'],
  indexGranularity: 2048,
};

const completeness: Table = {
  name: 'completeness',
  comment:
    'How far the tables are complete: every row that records in front of `through_offset` lead to is in all of them. Read with FINAL. A batch writes it last, so tables may show more than it says, never less.',
  columns: [
    column(
      'projection',
      'String',
      'Which tables: `tables` stands for all that the projectors write.',
    ),
    column('partition', 'UInt16', 'Partition of the topic executions.'),
    column(
      'through_offset',
      'UInt64',
      'Offset in the topic executions of the first record that may be missing; the largest counts.',
    ),
    column(
      'next_in_offset',
      'UInt64',
      'The same in the topic orders: rows of the partition with a smaller in_offset are all there.',
    ),
    column(
      'through',
      "DateTime64(3, 'UTC')",
      'Everything that happened in the partition before this is in: its clock at the last record that is in, UTC; the epoch before the first.',
    ),
  ],
  engine: 'ReplacingMergeTree(through_offset)',
  orderBy: ['projection', 'partition'],
};

const bookClosings: Table = {
  name: 'book_closings',
  comment:
    'Last total of each price level that changed in an hour and in a month, in terms of token 0: a past book is read from few of them and the `book_events` of its hour.',
  columns: [
    market,
    column('span', "Enum8('hour' = 0, 'month' = 1)", 'How long the bucket is.'),
    column('bucket', "DateTime('UTC')", 'Start of the hour or month, UTC.', `Delta, ${zstd}`),
    side('side', 'BUY is a bid, SELL an ask, of token 0.'),
    price('price', 'Of token 0.'),
    shares('size', 'Resting at this price when the bucket ended; 0 when none.'),
    version,
  ],
  engine: 'ReplacingMergeTree(version)',
  partitionBy: 'toYYYYMM(bucket)',
  orderBy: ['market', 'span', 'bucket', 'side', 'price'],
  indexGranularity: 2048,
};

const bookOrders: Table = {
  name: 'book_orders',
  comment:
    'What rests of an order after each record that changed it, in terms of token 0; orders that never rest are not here.',
  columns: [
    ...ofEvent,
    market,
    orderId('order_id', 'The order.'),
    nullable(side('side', 'BUY is a bid, SELL an ask, of token 0; NULL in rows of cancels.')),
    nullable(price('price', 'Of token 0; NULL in rows of cancels.')),
    shares('size', 'Resting after the event; 0 when it has left the book.'),
  ],
  engine: 'ReplacingMergeTree',
  partitionBy: 'toYYYYMM(time)',
  orderBy: ['market', 'time', 'in_offset', 'event_index', 'partition'],
};

const marketRules: Table = {
  name: 'market_rules',
  comment: 'The rules of a market from each record on that set them.',
  columns: [
    ...ofEvent,
    market,
    price('tick', 'Price grid.'),
    shares('min_size', 'Smallest order.'),
    column('fee_rate_bps', 'UInt16', 'Rate of the fee curve in basis points.'),
    column('mode', 'LowCardinality(String)', 'What it takes: OPEN, POST_ONLY ...'),
    column('taker_delay_ms', 'UInt32', 'How long an order that would trade is held, milliseconds.'),
  ],
  engine: 'ReplacingMergeTree',
  orderBy: ['market', 'time', 'in_offset', 'event_index', 'partition'],
};

/** All tables, by the name used in code. */
export const tables = {
  fills,
  walletFills,
  walletMoves,
  tape,
  builderFills,
  resolutions,
  orderEvents,
  openOrders,
  walletCancels,
  bookEvents,
  positions,
  holders,
  midpoints,
  candles,
  completeness,
  bookClosings,
  bookOrders,
  marketRules,
} as const satisfies Record<string, Table>;
