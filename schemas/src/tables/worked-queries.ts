import { priceText } from '../decimal.ts';
import { shownSpreadMax } from '../money.ts';
import { shownSides } from './tables.ts';

/** A query that shows how a question is put to the tables. Run against real engines and checked against naive code. */
export interface WorkedQuery {
  readonly name: string;
  /** The question. */
  readonly title: string;
  /** Facts to know about the answer. */
  readonly about: string;
  readonly sql: string;
  /** Values for `{name:Type}` that make the example. */
  readonly example: Readonly<Record<string, string | number>>;
}

const widest = `toDecimal32('${priceText(shownSpreadMax)}', 4)`;
const exampleWallet = '0x000000000000000000000000000000000000abcd';

/** All moments of parameters are Unix milliseconds. */
const moment = (parameter: 'at' | 'from' | 'to') =>
  `fromUnixTimestamp64Milli({${parameter}:Int64}, 'UTC')`;
const since = (column: string) => `${column} >= ${moment('from')}`;

const byTime = moment('at');
const upToTime = 'AND time <= moment';
/** When the levels of the market last changed by then; null when they never did. */
const byOffset = `(
  SELECT time FROM book_events WHERE market = {market:UInt32} AND in_offset <= {offset:UInt64}
  ORDER BY time DESC, in_offset DESC LIMIT 1
)`;
const upToOffset = 'AND in_offset <= {offset:UInt64}';

/**
 * The newest total of every level: closings of the months and hours before, events of the hour. A market's rows come
 * from one partition, so its offsets order them.
 */
const levelsSql = (moment: string, upTo: string): string => `WITH ${moment} AS moment
SELECT if({outcome:UInt8} = 0, toString(side), if(side = 'BUY', 'SELL', 'BUY')) AS shown,
  if({outcome:UInt8} = 0, price, 1 - price) AS level, shares
FROM (
  SELECT side, price, argMax(size, (version, event)) AS shares
  FROM (
    SELECT side, price, size, version, toUInt32(4294967295) AS event FROM book_closings
    WHERE market = {market:UInt32} AND (span = 'month' AND bucket < toStartOfMonth(moment)
      OR span = 'hour' AND bucket >= toStartOfMonth(moment) AND bucket < toStartOfHour(moment))
    UNION ALL
    SELECT side, price, size, in_offset, event_index FROM book_events
    WHERE market = {market:UInt32} AND time >= toStartOfHour(moment) ${upTo}
  )
  GROUP BY side, price
  HAVING shares > 0
)
ORDER BY shown, level DESC`;

/** Resting orders by the rows of the market, and the terms that `order_events` has of those orders alone. */
const ordersSql = (upTo: string): string => `resting AS (
  SELECT order_id, argMax(size, (in_offset, event_index)) AS rests, min((in_offset, event_index)) AS came
  FROM book_orders
  WHERE market = {market:UInt32} ${upTo}
  GROUP BY order_id
  HAVING rests > 0
)
SELECT order_id, owner, token, way, limit_price, rests, came
FROM resting
INNER JOIN (
  SELECT order_id, any(wallet) AS owner, any(outcome) AS token, toString(any(side)) AS way, any(price) AS limit_price
  FROM order_events
  WHERE kind = 'PLACED' AND order_id IN (SELECT order_id FROM resting)
  GROUP BY order_id
) AS placed USING order_id
ORDER BY token, way, limit_price, came`;

const atIs = '`at` is by the clock of the partition.';
const offsetIs = '`offset` is an `in_offset`, that of the last record that counts.';

/** Queries of the data dictionary (queries.md), by name. */
export const workedQueries = [
  {
    name: 'volumeByDay',
    title: 'Volume by day',
    about: 'USDC, each trade once, at the price of the taker’s token.',
    sql: `SELECT toDate(time) AS day, count() AS trades, sum(toDecimal128(taker_price, 4) * size) AS volume
FROM fills FINAL
GROUP BY day
ORDER BY day`,
    example: {},
  },
  {
    name: 'walletPnl',
    title: 'PnL of a wallet',
    about:
      'Realized, and what is held at the displayed price less its cost, as in `/positions`: what the token pays once the market is resolved; the newest trade of the market where bid and ask are more than 0.10 apart; else what is halfway between them, 0 and 1 where there are none.',
    sql: `WITH (SELECT groupUniqArray(market) FROM positions WHERE wallet = {wallet:String}) AS held_in
SELECT p.market AS market, p.outcome AS outcome, p.size AS held, p.cost AS paid, p.realized_pnl AS realized,
  multiIf(
    r.payout IS NOT NULL, r.payout,
    t.last IS NOT NULL AND ifNull(m.ask - m.bid, 1) > ${widest}, t.last,
    m.ask IS NOT NULL, toDecimal64(m.bid + m.ask, 6) / 2,
    toDecimal64('0.5', 6)) AS price0,
  CAST(toDecimal128(if(p.outcome = 0, price0, 1 - price0), 6) * p.size AS Decimal(38, 6)) AS value, value - p.cost AS unrealized
FROM (SELECT * FROM positions FINAL WHERE wallet = {wallet:String}) AS p
LEFT JOIN (
  SELECT market, toDecimal64(argMax(payout0, version), 6) AS payout FROM resolutions
  WHERE has(held_in, market) GROUP BY market
) AS r ON r.market = p.market
LEFT JOIN (
  SELECT market, argMax(${shownSides.bid}, version) AS bid,
    argMax(${shownSides.ask}, version) AS ask
  FROM midpoints_1m
  WHERE has(held_in, market) GROUP BY market
) AS m ON m.market = p.market
LEFT JOIN (
  SELECT market, toDecimal64(argMax(if(outcome = 0, close, 1 - close), version * 2 + outcome), 6) AS last
  FROM candles_1m WHERE has(held_in, market) GROUP BY market
) AS t ON t.market = p.market
ORDER BY market, outcome
SETTINGS join_use_nulls = 1`,
    example: { wallet: exampleWallet },
  },
  {
    name: 'ledgerPnl',
    title: 'Positions of a wallet out of the ledger',
    about:
      'The average-cost fold of docs/data/definitions.md over trades and moves, in micro-shares and micro-USDC: the same numbers as in `positions`.',
    sql: `WITH (toInt128(0), toInt128(0), toInt128(0), toInt128(0)) AS nothing
SELECT market, outcome, toInt64(state.1) AS size_micro, toInt64(state.2) AS cost_micro,
  toInt64(state.3) AS bought_micro, toInt64(state.4) AS realized_micro
FROM (
  SELECT market, outcome, arrayFold((held, leg) -> if(leg.4,
    (held.1 + leg.5, held.2 + leg.6, held.3 + leg.6, held.4),
    (held.1 - leg.5, held.2 - intDiv(held.2 * leg.5, greatest(held.1, toInt128(1))), held.3,
      held.4 + leg.6 - intDiv(held.2 * leg.5, greatest(held.1, toInt128(1))))),
    arraySort(groupArray((in_offset, event_index, turn, buys, shares, intDiv(shares * per, 10000)))),
    nothing) AS state
  FROM (
    SELECT market, outcome, in_offset, event_index, toUInt8(role = 'MAKER') AS turn,
      toUInt8(side = 'BUY') AS buys, toInt128(reinterpretAsInt64(size)) AS shares,
      toInt128(reinterpretAsInt32(price)) AS per
    FROM wallet_fills FINAL WHERE wallet = {wallet:String}
    UNION ALL
    SELECT market, outcome, in_offset, event_index, 0, toUInt8(action = 'SPLIT'),
      toInt128(reinterpretAsInt64(size)), toInt128(reinterpretAsInt32(price))
    FROM wallet_moves FINAL WHERE wallet = {wallet:String}
  )
  GROUP BY market, outcome
)
ORDER BY market, outcome`,
    example: { wallet: exampleWallet },
  },
  {
    name: 'spreadOverTime',
    title: 'Spread of a market over time',
    about:
      'In terms of token 0, at the end of each whole minute in which the best prices changed. Minutes that end without both sides are left out.',
    sql: `SELECT bucket AS minute, bid, ask, ask - bid AS spread
FROM midpoints_1m FINAL
WHERE market = {market:UInt32} AND ${since('bucket')} AND bucket < ${moment('to')} AND midpoint IS NOT NULL
ORDER BY minute`,
    example: { market: 1, from: 1_780_000_000_000, to: 1_780_086_400_000 },
  },
  {
    name: 'bookAt',
    title: 'The book of a token at a moment, by levels (L2)',
    about: `A bid for token 1 at 1 − p is an ask for token 0 at p: one ladder, read from either side. ${atIs} Reads a row per level and month or hour in which it changed, and the events of one hour.`,
    sql: levelsSql(byTime, upToTime),
    example: { market: 1, outcome: 0, at: 1_780_000_000_000 },
  },
  {
    name: 'bookAtOffset',
    title: 'The book of a token after a record, by levels (L2)',
    about: `The same as the one before. ${offsetIs} When that was is looked for from the newest event of the market back, so a time costs less where both are known.`,
    sql: levelsSql(byOffset, upToOffset),
    example: { market: 1, outcome: 0, offset: 1_000 },
  },
  {
    name: 'ordersAt',
    title: 'The book of a market at a moment, by orders (L3)',
    about: `Orders of one price are in the order of their arrival. ${atIs} Reads what happened to the orders of the market up to then, and the placements of those that rest.`,
    sql: `WITH ${byTime} AS moment, ${ordersSql(upToTime)}`,
    example: { market: 1, at: 1_780_000_000_000 },
  },
  {
    name: 'ordersAtOffset',
    title: 'The book of a market after a record, by orders (L3)',
    about: `The same as the one before. ${offsetIs}`,
    sql: `WITH ${ordersSql(upToOffset)}`,
    example: { market: 1, offset: 1_000 },
  },
  {
    name: 'topHoldersOverTime',
    title: 'Top holders of a token over time',
    about:
      'Shares held at the end of each day on which a holding changed: trades, splits, merges and redemptions.',
    sql: `WITH changes AS (
  SELECT toDate(time) AS day, wallet, sum(shares) AS change FROM (
    SELECT time, wallet, if(side = 'BUY', size, -size) AS shares FROM wallet_fills FINAL
    WHERE market = {market:UInt32} AND outcome = {outcome:UInt8}
    UNION ALL
    SELECT time, wallet, if(action = 'SPLIT', size, -size) AS shares FROM wallet_moves FINAL
    WHERE market = {market:UInt32} AND outcome = {outcome:UInt8}
  )
  GROUP BY day, wallet
)
SELECT days.day AS day, wallet, sum(change) AS held
FROM (SELECT DISTINCT day FROM changes) AS days
CROSS JOIN changes
WHERE changes.day <= days.day
GROUP BY day, wallet
HAVING held > 0
ORDER BY day, held DESC, wallet
LIMIT {top:UInt32} BY day`,
    example: { market: 1, outcome: 0, top: 10 },
  },
  {
    name: 'makerTakerShare',
    title: 'How much of its volume a wallet made, and how much it took',
    about: 'USDC at the price of the wallet’s token.',
    sql: `SELECT toString(role) AS part, count() AS trades, sum(toDecimal128(price, 4) * size) AS volume
FROM wallet_fills FINAL
WHERE wallet = {wallet:String}
GROUP BY part
ORDER BY part`,
    example: { wallet: exampleWallet },
  },
  {
    name: 'builderVolume',
    title: 'Volume by builder and day',
    about:
      'Orders of both sides count for the builder whose code they carry, each at its own price.',
    sql: `SELECT day, builder, count() AS orders, sum(toDecimal128(price, 4) * shares) AS volume
FROM (
  SELECT toDate(time) AS day, taker_builder AS builder, taker_price AS price, size AS shares FROM fills FINAL
  UNION ALL
  SELECT toDate(time) AS day, maker_builder AS builder, maker_price AS price, size AS shares FROM fills FINAL
)
WHERE builder != concat('0x', repeat('0', 64))
GROUP BY day, builder
ORDER BY day, builder`,
    example: {},
  },
  {
    name: 'feesByMarket',
    title: 'Fee revenue by market and day',
    about: 'What takers paid, USDC.',
    sql: `SELECT toDate(time) AS day, market, sum(fee) AS fees
FROM fills FINAL
GROUP BY day, market
ORDER BY day, market`,
    example: {},
  },
  {
    name: 'orderToFill',
    title: 'From order to first fill',
    about:
      'Milliseconds. TAKER: orders that filled as they came, from when ingress took them (their first attempt, where the client names it) to when the record with the fill was appended to the log. MAKER: orders that rested, from the append of their placement to that of their first fill. Orders without a fill are left out, and those with a DELAYED row (a taker delay, or held for a tick). These are wall clocks, of ingress and of the matcher; `time`, the clock of a partition, moves in steps and cannot be compared with them.',
    sql: `SELECT first_as, count() AS filled, quantileExactLow(0.5)(took) AS p50, quantileExactLow(0.99)(took) AS p99
FROM (
  SELECT if(countIf(role = 'TAKER') > 0, 'TAKER', 'MAKER') AS first_as,
    if(first_as = 'TAKER', anyIf(accepted_at, kind = 'PLACED'), anyIf(appended_at, kind = 'PLACED')) AS began,
    dateDiff('millisecond', began, minIf(appended_at, kind = 'FILLED')) AS took
  FROM order_events FINAL
  WHERE ${since('time')}
  GROUP BY order_id
  HAVING countIf(kind = 'FILLED') > 0 AND countIf(kind = 'PLACED') > 0 AND countIf(kind = 'DELAYED') = 0
)
GROUP BY first_as
ORDER BY first_as DESC`,
    example: { from: 1_780_000_000_000 },
  },
] as const satisfies readonly WorkedQuery[];

export type WorkedQueryName = (typeof workedQueries)[number]['name'];
