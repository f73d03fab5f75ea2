import type { ClickHouse } from '@pm/kit/clickhouse';
import {
  columnNames,
  leaderboardPeriods,
  leaderboardPlacesMax,
  leaderboardTables,
  tables,
} from '@pm/schemas';

/** A computation may take so long, seconds. */
const LONGEST_S = 300;
/** Rows of one insert. */
const ROWS_AT_ONCE = 50_000;
const settings = `SETTINGS max_execution_time = ${LONGEST_S}`;

const { categories, prices, sums, wallets, tops, runs } = leaderboardTables;

/** Start of each period as an expression, the present first; whole minutes, as prices are kept. */
const starts = Object.values(leaderboardPeriods).map((seconds) =>
  seconds === null ? '{now:UInt32} + 60' : `{now:UInt32} - ${seconds}`,
);
const each = (make: (index: number) => string): string =>
  starts.map((_, index) => make(index)).join(', ');
const before = (index: number, time: string): string =>
  `${time} < fromUnixTimestamp(${starts[index]})`;

/** The price of token 0 at the moments: payout, midpoint (0: a side was empty), last trade, one half. */
const pricesSql = `
INSERT INTO ${prices.name} (snapshot, market, categories, prices)
SELECT {snapshot:UInt64}, market, bitOr(toUInt16(1), c.mask),
  [${each(
    (index) => `reinterpretAsInt64(toDecimal64(multiIf(
      r.known > 0 AND ${before(index, 'r.at')}, toDecimal64(r.payout, 6),
      m.p${index} > 0, toDecimal64(m.p${index}, 6),
      t.n${index} > 0, toDecimal64(t.p${index}, 6),
      toDecimal64(0.5, 6)), 6))`,
  )}]
FROM (SELECT DISTINCT market FROM ${tables.holders.name}) AS held
LEFT JOIN (
  SELECT market, ${each(
    (index) => `argMaxIf(midpoint, (bucket, version), ${before(index, 'bucket')}) AS p${index}`,
  )}
  FROM ${tables.midpoints.name} GROUP BY market
) AS m USING market
LEFT JOIN (
  SELECT market, ${each(
    (
      index,
    ) => `argMaxIf(if(outcome = 0, close, 1 - close), (bucket, version), ${before(index, 'bucket')}) AS p${index},
    countIf(${before(index, 'bucket')}) AS n${index}`,
  )}
  FROM ${tables.candles.name} GROUP BY market
) AS t USING market
LEFT JOIN (
  SELECT market, argMax(payout0, version) AS payout, argMax(time, version) AS at, count() AS known
  FROM ${tables.resolutions.name} GROUP BY market
) AS r USING market
LEFT JOIN (
  SELECT market, mask FROM ${categories.name} WHERE snapshot = {snapshot:UInt64}
) AS c USING market
${settings}`;

/** Prices of a token at each moment, in micro-USDC. */
const at = (index: number): string =>
  `toInt128(if(outcome = 0, l.prices[${index + 1}], 1000000 - l.prices[${index + 1}]))`;
const micro = (decimal: string): string => `toInt128(reinterpretAsInt64(${decimal}))`;

/** Everything a wallet ever did, and what it holds at the prices of now less those of then. */
const positionsSql = `
INSERT INTO ${sums.name} (snapshot, partition, wallet, categories, version, vols, pnls)
SELECT {snapshot:UInt64}, partition, wallet, l.categories, max(version),
  sumForEach([${each((index) => (index === 0 ? micro('volume') : 'toInt128(0)'))}]),
  sumForEach([${each((index) =>
    index === 0
      ? `(${micro('realized_pnl')} - ${micro('cost')}) * 1000000 + ${micro('size')} * ${at(0)}`
      : `${micro('size')} * (${at(0)} - ${at(index)})`,
  )}])
FROM ${tables.positions.name} AS p FINAL
INNER JOIN (SELECT * FROM ${prices.name} WHERE snapshot = {snapshot:UInt64}) AS l USING market
GROUP BY partition, wallet, l.categories
${settings}`;

const legs = `
  SELECT partition, in_offset, time, wallet, market, outcome, 1 AS traded, (side = 'BUY') AS bought,
    reinterpretAsInt64(size) AS amount, reinterpretAsInt32(price) AS per
  FROM ${tables.walletFills.name} FINAL
  WHERE time >= fromUnixTimestamp({from:UInt32})
  UNION ALL
  SELECT partition, in_offset, time, wallet, market, outcome, 0, action = 'SPLIT',
    reinterpretAsInt64(size), reinterpretAsInt32(price)
  FROM ${tables.walletMoves.name} FINAL
  WHERE time >= fromUnixTimestamp({from:UInt32})`;
/** Micro-shares times 1/10000 USDC are 10^-10 USDC. */
const valueMicro = 'intDiv(toInt128(amount) * per, 10000)';

/**
 * What came and went within the periods. Only what the positions had included by then: they are read first, each row says up to
 * which record it is folded, and every trade moves a row.
 */
const tradesSql = `
INSERT INTO ${sums.name} (snapshot, partition, wallet, categories, version, vols, pnls)
SELECT {snapshot:UInt64}, partition, wallet, l.categories, 0,
  sumForEach([${each((index) =>
    index === 0 ? 'toInt128(0)' : `if(NOT (${before(index, 'time')}) AND traded, ${valueMicro}, 0)`,
  )}]),
  sumForEach([${each((index) =>
    index === 0
      ? 'toInt128(0)'
      : `if(${before(index, 'time')}, 0,
        if(bought, -1, 1) * (${valueMicro} * 1000000 - toInt128(amount) * ${at(index)}))`,
  )}])
FROM (${legs}) AS g
INNER JOIN (
  SELECT partition, max(version) AS bound FROM ${sums.name}
  WHERE snapshot = {snapshot:UInt64} GROUP BY partition
) AS b USING partition
INNER JOIN (SELECT * FROM ${prices.name} WHERE snapshot = {snapshot:UInt64}) AS l USING market
WHERE in_offset <= b.bound
GROUP BY partition, wallet, l.categories
${settings}`;

const board = 'PARTITION BY period, category ORDER BY';
const walletsSql = `
INSERT INTO ${wallets.name}
  (snapshot, period, category, wallet, vol_micro, pnl_micro, rank_vol, rank_pnl, place_vol, place_pnl)
SELECT {snapshot:UInt64}, period, category, wallet, vol, pnl,
  rank() OVER (${board} vol DESC), rank() OVER (${board} pnl DESC),
  row_number() OVER (${board} vol DESC, wallet), row_number() OVER (${board} pnl DESC, wallet)
FROM (
  SELECT wallet, category, period, toInt64(vols[period]) AS vol, toInt64(intDiv(pnls[period], 1000000)) AS pnl
  FROM (
    SELECT wallet, category, sumForEach(s.vols) AS vols, sumForEach(s.pnls) AS pnls
    FROM ${sums.name} AS s
    ARRAY JOIN arrayFilter(bit -> bitTest(s.categories, bit), range(16)) AS category
    WHERE snapshot = {snapshot:UInt64}
    GROUP BY wallet, category
  )
  ARRAY JOIN [1, 2, 3, 4] AS period
  WHERE vol != 0 OR pnl != 0
)
${settings}`;

const topSql = (name: 'PNL' | 'VOL'): string => `
INSERT INTO ${tops.name} (snapshot, period, category, board, place, rank, wallet, vol_micro, pnl_micro)
SELECT snapshot, period, category, '${name}', place_${name.toLowerCase()}, rank_${name.toLowerCase()},
  wallet, vol_micro, pnl_micro
FROM ${wallets.name}
WHERE snapshot = {snapshot:UInt64} AND place_${name.toLowerCase()} <= ${leaderboardPlacesMax}
${settings}`;

/** Computes all leaderboards as of now and serves them at once (docs/definitions.md). */
export async function computeLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'insertRows'>,
  masks: readonly (readonly [market: number, mask: number])[],
  nowMs: number,
): Promise<void> {
  const snapshot = nowMs;
  // The minute under way counts whole: what happened is all before its end.
  const now = Math.floor(nowMs / 60_000) * 60;
  const from = now - leaderboardPeriods.MONTH;
  const rows = masks.map(([market, mask]) => [snapshot, market, mask]);
  for (let index = 0; index < rows.length; index += ROWS_AT_ONCE) {
    const some = rows.slice(index, index + ROWS_AT_ONCE);
    await clickhouse.insertRows(categories.name, columnNames(categories), some);
  }
  await clickhouse.command(pricesSql, { snapshot, now });
  await clickhouse.command(positionsSql, { snapshot });
  await clickhouse.command(tradesSql, { snapshot, now, from });
  await clickhouse.command(walletsSql, { snapshot });
  for (const name of ['PNL', 'VOL'] as const) await clickhouse.command(topSql(name), { snapshot });
  await clickhouse.command(`INSERT INTO ${runs.name} (snapshot) SELECT {snapshot:UInt64}`, {
    snapshot,
  });
}

/** Snapshot of the leaderboards that are served, Unix milliseconds; 0 before the first. */
export async function newestLeaderboard(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
): Promise<number> {
  const sql = `SELECT toString(max(snapshot)) AS newest FROM ${runs.name}`;
  const [row] = await clickhouse.selectRows<{ readonly newest: string }>(sql);
  return Number(row?.newest ?? 0);
}

/** Whoever reads now may still read the one before. */
const KEPT = 2;

/** Drops what no reader looks at any more. */
export async function dropOldLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'selectRows'>,
): Promise<void> {
  const kept = await clickhouse.selectRows<{ readonly snapshot: string }>(
    `SELECT toString(snapshot) AS snapshot FROM ${runs.name} ORDER BY ${runs.name}.snapshot DESC LIMIT ${KEPT}`,
  );
  const served = new Set(kept.map(({ snapshot }) => snapshot));
  const newest = Math.max(0, ...[...served].map(Number));
  for (const { name } of [categories, prices, sums, wallets, tops]) {
    const parts = await clickhouse.selectRows<{ readonly partition: string }>(
      `SELECT DISTINCT partition FROM system.parts
       WHERE database = currentDatabase() AND table = {name:String} AND active`,
      { name },
    );
    for (const { partition } of parts) {
      // A later one is under way.
      if (served.has(partition) || Number(partition) > newest) continue;
      await clickhouse.command(`ALTER TABLE ${name} DROP PARTITION ${Number(partition)}`);
    }
  }
}
