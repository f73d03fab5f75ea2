import { tables } from './tables.ts';

/**
 * The queries for the book of a market at a past moment (conventions.md 5.2). Parameters: `market` and `partition`;
 * the moment as `at` (Unix milliseconds, the clock of the partition) and `offset` (input offset, the last record that
 * counts); `hour`, `month` and `minute` of `at` (Unix seconds of their starts). Prices and sizes come as decimals.
 */
const upTo = `market = {market:UInt32} AND partition = {partition:UInt16}
  AND time <= fromUnixTimestamp64Milli({at:Int64}, 'UTC') AND in_offset <= {offset:UInt64}`;

/** A past book must be answered in this time, seconds. */
const bounded = 'SETTINGS max_execution_time = 5';

/** Events after a closing of the same version: none. */
const lastEvent = 'toUInt32(4294967295)';

/**
 * `side, price, total` of every level of token 0. Read are the closings of the months before, those of the hours of
 * the month before, and the events of the hour: the cost follows from the levels and from the hour, not from the
 * history of the market.
 */
export const pastLevelsSql = `
SELECT side, price, argMax(size, (version, event)) AS total
FROM (
  SELECT side, price, size, version, ${lastEvent} AS event FROM ${tables.bookClosings.name}
  WHERE market = {market:UInt32} AND span = 'month' AND bucket < fromUnixTimestamp({month:UInt32})
  UNION ALL
  SELECT side, price, size, version, ${lastEvent} AS event FROM ${tables.bookClosings.name}
  WHERE market = {market:UInt32} AND span = 'hour'
    AND bucket >= fromUnixTimestamp({month:UInt32}) AND bucket < fromUnixTimestamp({hour:UInt32})
  UNION ALL
  SELECT side, price, size, in_offset AS version, event_index AS event FROM ${tables.bookEvents.name}
  WHERE ${upTo} AND time >= fromUnixTimestamp({hour:UInt32})
)
GROUP BY side, price
HAVING total > 0
ORDER BY side, price
${bounded}`;

/**
 * `order_id, side, price, total` of every resting order in terms of token 0, in the order in which they came to rest:
 * of one price the first one trades first. Reads what happened to the orders of the market up to the moment.
 */
export const pastOrdersSql = `
SELECT order_id, any(side) AS book_side, any(price) AS book_price,
  argMax(size, (in_offset, event_index)) AS total, min((in_offset, event_index)) AS place
FROM ${tables.bookOrders.name}
WHERE ${upTo}
GROUP BY order_id
HAVING total > 0
ORDER BY place
${bounded}`;

/** `tick, min_size` as they were; no row: the market was not listed yet. */
export const pastRulesSql = `
SELECT tick, min_size FROM ${tables.marketRules.name}
WHERE ${upTo}
ORDER BY time DESC, in_offset DESC, event_index DESC
LIMIT 1
${bounded}`;

/** `changed`: when the book was changed last, Unix milliseconds; 0 for never. */
export const pastChangeSql = `
SELECT max(changed) AS changed FROM (
${[tables.bookEvents, tables.fills, tables.marketRules]
  .map(
    ({ name }) => `  (SELECT toUnixTimestamp64Milli(time) AS changed FROM ${name}
  WHERE ${upTo}
  ORDER BY time DESC, in_offset DESC LIMIT 1)`,
  )
  .join('\n  UNION ALL\n')}
)
${bounded}`;

/**
 * `price` of the last trade of token `outcome`, no row when there was none: of the minute, else the close of a minute
 * before.
 */
export const pastTradeSql = `
SELECT price FROM (
  (SELECT 1 AS place, if(taker_outcome = {outcome:UInt8}, taker_price, maker_price) AS price
  FROM ${tables.fills.name}
  WHERE ${upTo} AND time >= fromUnixTimestamp({minute:UInt32})
    AND (taker_outcome = {outcome:UInt8} OR match != 'COMPLEMENTARY')
  ORDER BY time DESC, in_offset DESC, event_index DESC LIMIT 1)
  UNION ALL
  (SELECT 2 AS place, close AS price FROM ${tables.candles.name}
  WHERE market = {market:UInt32} AND outcome = {outcome:UInt8} AND bucket < fromUnixTimestamp({minute:UInt32})
  ORDER BY bucket DESC, version DESC LIMIT 1)
)
ORDER BY place
LIMIT 1
${bounded}`;

/** `through_ms, next_offset`: up to which clock and input offset the tables hold everything of a partition. */
export const completeThroughSql = `
SELECT toUnixTimestamp64Milli(through) AS through_ms, next_in_offset AS next_offset
FROM ${tables.completeness.name} FINAL
WHERE projection = 'tables' AND partition = {partition:UInt16}
${bounded}`;
