import { priceText } from '@pm/schemas/decimal';
import { shownSpreadMax } from '@pm/schemas/money';
import {
  type LeaderboardPeriod,
  leaderboardColumn,
  leaderboardPeriods,
  leaderboardPlacesMax,
  leaderboardTables,
} from '@pm/schemas/tables/leaderboard-tables';
import { shownSides, tables } from '@pm/schemas/tables/tables';

/**
 * The statements of a computation of the leaderboards (definitions.md), in their order. Parameters: `snapshot`; `now`,
 * the full minute of the computation, Unix seconds; `fromWallet` and `toWallet`, the wallets of a slice.
 */
const { categories, prices, sums, wallets, tops } = leaderboardTables;

/** One thread, so that the others are left to reads; the bytes of memory above which groups and sorts use the disk. */
const settings = `SETTINGS max_execution_time = 300, max_threads = 1, max_insert_threads = 1,
  max_bytes_before_external_group_by = 500000000, max_bytes_before_external_sort = 500000000`;
/**
 * For tables in the order of wallets: a wallet is complete when the next one begins. Rows of one key are in one month.
 */
const byWallet = `${settings}, optimize_aggregation_in_order = 1, do_not_merge_across_partitions_select_final = 1`;

const periods = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];
/** Start of a period as a DateTime; of ALL its end, in full minutes as prices are. */
const startOf = (period: LeaderboardPeriod): string => {
  const seconds = leaderboardPeriods[period];
  return `fromUnixTimestamp({now:UInt32} ${seconds === null ? '+ 60' : `- ${seconds}`})`;
};
const longestS = Math.max(...Object.values(leaderboardPeriods).map((seconds) => seconds ?? 0));
const vol = (period: LeaderboardPeriod): string => leaderboardColumn('vol', period);
const pnl = (period: LeaderboardPeriod): string => leaderboardColumn('pnl', period);
const of = (what: string, period: LeaderboardPeriod): string => `${what}_${period.toLowerCase()}`;
const price = (period: LeaderboardPeriod): string => of('price', period);
const bid = (period: LeaderboardPeriod): string => of('bid', period);
const ask = (period: LeaderboardPeriod): string => of('ask', period);
const trades = (period: LeaderboardPeriod): string => of('trades', period);
const widest = `toDecimal32('${priceText(shownSpreadMax)}', 4)`;
const each = (make: (period: LeaderboardPeriod) => string): string =>
  periods.map(make).join(',\n  ');
const inSlice = 'wallet >= {fromWallet:String} AND wallet < {toWallet:String}';
const ofRun = 'snapshot = {snapshot:UInt64}';

/**
 * The price of token 0 at the starts of the periods: the payout, else the displayed price. That is the newest trade of
 * a wide book, else the midpoint of bid and ask, with 0 and 1 for an empty side. The rows of a market come from one
 * partition, so the larger version is the later one; in a record with trades of token 1 those count. An ask of 0 means
 * that the market never had a bid or an ask.
 */
export const pricesSql = `
INSERT INTO ${prices.name} (snapshot, market, categories, ${each(price)})
SELECT {snapshot:UInt64}, market, bitOr(toUInt16(1), c.mask),
  ${each(
    (period) => `reinterpretAsInt64(toDecimal64(multiIf(
      r.known > 0 AND r.at < ${startOf(period)}, toDecimal64(r.payout, 6),
      t.${trades(period)} > 0 AND (m.${ask(period)} = 0 OR m.${ask(period)} - m.${bid(period)} > ${widest}),
      toDecimal64(t.${price(period)}, 6),
      m.${ask(period)} = 0, toDecimal64('0.5', 6),
      toDecimal64(m.${bid(period)} + m.${ask(period)}, 6) / 2), 6))`,
  )}
FROM (SELECT DISTINCT market FROM ${tables.holders.name}) AS held
LEFT JOIN (
  SELECT market, ${each(
    (
      period,
    ) => `argMaxIf(${shownSides.bid}, version, bucket < ${startOf(period)}) AS ${bid(period)},
    argMaxIf(${shownSides.ask}, version, bucket < ${startOf(period)}) AS ${ask(period)}`,
  )}
  FROM ${tables.midpoints.name} GROUP BY market
) AS m USING market
LEFT JOIN (
  SELECT market, ${each(
    (period) => `argMaxIf(if(outcome = 0, close, 1 - close), version * 2 + outcome,
      bucket < ${startOf(period)}) AS ${price(period)},
    countIf(bucket < ${startOf(period)}) AS ${trades(period)}`,
  )}
  FROM ${tables.candles.name} GROUP BY market
) AS t USING market
LEFT JOIN (
  SELECT market, argMax(payout0, version) AS payout, argMax(time, version) AS at, count() AS known
  FROM ${tables.resolutions.name} GROUP BY market
) AS r USING market
LEFT JOIN (SELECT market, mask FROM ${categories.name} WHERE ${ofRun}) AS c USING market
${settings}`;

/** Price of the row's token at a moment, in micro-USDC. */
const at = (period: LeaderboardPeriod): string =>
  `if(outcome = 0, l.${price(period)}, 1000000 - l.${price(period)})`;
const micro = (decimal: string): string => `toInt128(reinterpretAsInt64(${decimal}))`;
const ofPrices = `SELECT market, categories, ${each(price)} FROM ${prices.name} WHERE ${ofRun}`;

/** The whole trading of the wallets, and their positions at the prices of now less those of then. */
export const positionsSql = `
INSERT INTO ${sums.name} (snapshot, partition, wallet, categories, version, ${vol('ALL')}, ${each(pnl)})
SELECT {snapshot:UInt64}, partition, wallet, l.categories, max(version), sum(${micro('volume')}),
  ${each((period) =>
    period === 'ALL'
      ? `sum((${micro('realized_pnl')} - ${micro('cost')}) * 1000000 + ${micro('size')} * ${at('ALL')})`
      : `sum(${micro('size')} * (${at('ALL')} - ${at(period)}))`,
  )}
FROM ${tables.positions.name} AS p FINAL
INNER JOIN (${ofPrices}) AS l USING market
WHERE ${inSlice}
GROUP BY partition, wallet, l.categories
${byWallet}`;

const legs = `
    SELECT partition, in_offset, time, wallet, market, outcome, 1 AS traded, (side = 'BUY') AS bought,
      reinterpretAsInt64(size) AS amount, reinterpretAsInt32(price) AS per
    FROM ${tables.walletFills.name} FINAL
    WHERE ${inSlice} AND time >= fromUnixTimestamp({now:UInt32} - ${longestS})
    UNION ALL
    SELECT partition, in_offset, time, wallet, market, outcome, 0, action = 'SPLIT',
      reinterpretAsInt64(size), reinterpretAsInt32(price)
    FROM ${tables.walletMoves.name} FINAL
    WHERE ${inSlice} AND time >= fromUnixTimestamp({now:UInt32} - ${longestS})`;
/** Micro-shares times 1/10000 USDC are 10^-10 USDC. */
const valueMicro = 'intDiv(toInt128(amount) * per, 10000)';

/**
 * The trades and moves within the periods, limited to those that are in the positions of the slice. The positions are
 * read first, each row carries the record up to which it is folded, every trade changes a row, and the rows of a batch
 * become visible together.
 */
const tradesOfSlice = `
  SELECT wallet, l.categories AS categories,
    ${each((period) =>
      period === 'ALL'
        ? `toInt128(0) AS ${vol('ALL')}, toInt128(0) AS ${pnl('ALL')}`
        : `sumIf(${valueMicro}, traded AND time >= ${startOf(period)}) AS ${vol(period)},
    sumIf(if(bought, -1, 1) * (${valueMicro} * 1000000 - toInt128(amount) * ${at(period)}),
      time >= ${startOf(period)}) AS ${pnl(period)}`,
    )}
  FROM (${legs}
  ) AS g
  INNER JOIN (
    SELECT partition, max(version) AS bound FROM ${sums.name}
    WHERE ${ofRun} AND ${inSlice} GROUP BY partition
  ) AS b USING partition
  INNER JOIN (${ofPrices}) AS l USING market
  WHERE in_offset <= b.bound
  GROUP BY wallet, categories`;

/** Figures of the wallets in each of their categories; sums are truncated to micro-USDC only here, at the end. */
export const walletsSql = `
INSERT INTO ${wallets.name} (snapshot, category, wallet, ${each((period) => `${vol(period)}, ${pnl(period)}`)})
SELECT {snapshot:UInt64}, category, wallet,
  ${each(
    (period) => `toInt64(sum(s.${vol(period)})) AS v_${period},
    toInt64(intDiv(sum(s.${pnl(period)}), 1000000)) AS p_${period}`,
  )}
FROM (
  SELECT wallet, categories, ${each((period) =>
    period === 'ALL'
      ? `${vol(period)}, ${pnl(period)}`
      : `toInt128(0) AS ${vol(period)}, ${pnl(period)}`,
  )}
  FROM ${sums.name} WHERE ${ofRun} AND ${inSlice}
  UNION ALL ${tradesOfSlice}
) AS s
ARRAY JOIN arrayFilter(bit -> bitTest(s.categories, bit), range(16)) AS category
GROUP BY category, wallet
HAVING ${periods.map((period) => `v_${period} != 0 OR p_${period} != 0`).join(' OR ')}
${byWallet}`;

const boards = periods.flatMap((period) =>
  (['PNL', 'VOL'] as const).map((board) => ({
    period,
    board,
    value: board === 'PNL' ? pnl(period) : vol(period),
    last: `${period}_${board}`,
    isListed: `(${vol(period)} != 0 OR ${pnl(period)} != 0)`,
  })),
);

/**
 * The first places of all boards. The figure of the last place of each is found first, so that only wallets that reach
 * it are sorted; wallets with equal figures all reach it.
 */
export const topsSql = `
INSERT INTO ${tops.name} (snapshot, period, category, board, place, rank, wallet, vol_micro, pnl_micro)
SELECT {snapshot:UInt64}, at.1, category, at.2,
  row_number() OVER (PARTITION BY at.1, category, at.2 ORDER BY at.3 DESC, wallet) AS place,
  rank() OVER (PARTITION BY at.1, category, at.2 ORDER BY at.3 DESC), wallet, at.4, at.5
FROM (
  SELECT category, wallet, arrayJoin(arrayFilter(one -> one.6, [
    ${boards
      .map(
        ({ period, board, value, last, isListed }) =>
          `('${period}', '${board}', w.${value}, w.${vol(period)}, w.${pnl(period)},
      ${isListed} AND w.${value} >= l.${last})`,
      )
      .join(',\n    ')}
  ])) AS at
  FROM ${wallets.name} AS w
  INNER JOIN (
    SELECT category,
      ${boards
        .map(
          ({ value, last, isListed }) =>
            `-arrayElement(groupArraySortedIf(${leaderboardPlacesMax})(-${value}, ${isListed}), -1) AS ${last}`,
        )
        .join(',\n      ')}
    FROM ${wallets.name} WHERE ${ofRun} GROUP BY category
  ) AS l USING category
  WHERE ${ofRun} AND (${boards
    .map(({ value, last, isListed }) => `${isListed} AND w.${value} >= l.${last}`)
    .join('\n    OR ')})
)
QUALIFY place <= ${leaderboardPlacesMax}
${settings}`;
