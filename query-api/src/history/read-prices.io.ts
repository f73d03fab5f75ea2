import type { Listing, Market } from '@pm/domain/markets/market';
import { storedMicro } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import { type BucketPrice, isOneSided, type PriceFacts } from './history.ts';
import { firstPriceS, type HistoryPlan } from './history-plan.ts';

interface Row {
  readonly market: number;
  /** Start of the bucket, Unix seconds; 0 for the newest value before the range. */
  readonly bucket_s: number;
  readonly price: string;
}

/**
 * A price before the range is looked for so far back first: markets that trade have one there, whatever their history.
 */
const lookBackS = 86_400;

/** The start of the range stands for everything before it, so one pass gives buckets and what came before. */
const bucketOf = `if(bucket < fromUnixTimestamp({from:UInt32}), 0,
  intDiv(toUnixTimestamp(bucket), {step:UInt32}) * {step:UInt32})`;
const inRange = `market IN {markets:Array(UInt32)}
  AND bucket >= fromUnixTimestamp({since:UInt32}) AND bucket < fromUnixTimestamp({to:UInt32})`;

/**
 * The newest row of each bucket, 0 where a side of the book was empty (`isOneSided`), since NULL is skipped: exact
 * without FINAL, since the rows of a market come from one partition and the later minute, and the later state of a
 * minute, has the larger version.
 */
const midpointSql = `
SELECT market, ${bucketOf} AS bucket_s, argMax(ifNull(midpoint, toDecimal32(0, 6)), version) AS price
FROM ${tables.midpoints.name}
WHERE ${inRange}
GROUP BY market, bucket_s
ORDER BY market, bucket_s
SETTINGS max_execution_time = 5`;

/** The newest trade of either token; of the trades of one record that of token 1 counts, as in the books. */
const tradeSql = `
SELECT market, ${bucketOf} AS bucket_s,
  argMax(if(outcome = 0, close, 1 - close), version * 2 + outcome) AS price
FROM ${tables.candles.name}
WHERE ${inRange}
GROUP BY market, bucket_s
ORDER BY market, bucket_s
SETTINGS max_execution_time = 5`;

const payoutSql = `
SELECT market, intDiv(toUnixTimestamp(argMax(time, version)), {step:UInt32}) * {step:UInt32} AS bucket_s,
  argMax(payout0, version) AS price
FROM ${tables.resolutions.name}
WHERE market IN {markets:Array(UInt32)}
GROUP BY market
SETTINGS max_execution_time = 5`;

/** Prices of a market in terms of token 0. */
interface Series {
  readonly market: number;
  /** No price is older, Unix seconds. */
  readonly sinceS: number;
}

function seriesOf(market: Market): Series {
  return { market: market.market, sinceS: firstPriceS([market]) };
}

/**
 * Known prices of tokens, one entry each. Trades are read only for markets whose book had an empty side before or
 * within the range: otherwise the midpoint counts (`historyPoints`).
 */
export async function readPrices(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  listings: readonly Listing[],
  plan: HistoryPlan,
): Promise<readonly PriceFacts[]> {
  const markets = new Map(listings.map(({ market }) => [market.market, market]));
  const read = async (sql: string, wanted: readonly Series[]) =>
    byMarket(await readSeries(clickhouse, sql, { wanted, plan }));
  const series = [...markets.values()].map(seriesOf);
  const midpoints = await read(midpointSql, series);
  const oneSided = series.filter(({ market }) => {
    const known = midpoints.get(market) ?? [];
    return before(known) === null || known.some(({ priceMicro }) => isOneSided(priceMicro));
  });
  const trades = await read(tradeSql, oneSided);
  const payouts = await readPayouts(clickhouse, [...markets.values()], plan);
  return listings.map(({ market: { market } }) => ({
    midpointBefore: before(midpoints.get(market)),
    midpoints: within(midpoints.get(market)),
    tradeBefore: before(trades.get(market)),
    trades: within(trades.get(market)),
    payout: payouts.get(market)?.[0] ?? null,
  }));
}

/** Payouts of markets that the catalog calls resolved. */
async function readPayouts(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  listed: readonly Market[],
  { stepS: step }: HistoryPlan,
): Promise<ReadonlyMap<number, readonly BucketPrice[]>> {
  const markets = listed.filter(({ payout0 }) => payout0 >= 0).map(({ market }) => market);
  if (markets.length === 0) return new Map();
  return byMarket(await clickhouse.selectRows<Row>(payoutSql, { markets, step }));
}

/**
 * The buckets of the range and the newest price before it; all of a history is read only where the last day before says
 * nothing and the market is older than that.
 */
async function readSeries(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  sql: string,
  { wanted, plan }: { readonly wanted: readonly Series[]; readonly plan: HistoryPlan },
): Promise<readonly Row[]> {
  const { fromS: from, toS: to, stepS: step } = plan;
  const select = async (series: readonly Series[], range: { since: number; to: number }) => {
    const markets = series.map(({ market }) => market);
    if (markets.length === 0) return [];
    return await clickhouse.selectRows<Row>(sql, { markets, from, step, ...range });
  };
  const since = Math.max(0, from - lookBackS);
  const rows = await select(wanted, { since, to });
  const known = new Set(
    rows.filter(({ bucket_s }) => Number(bucket_s) === 0).map(({ market }) => market),
  );
  const unknown = wanted.filter(({ market, sinceS }) => sinceS < since && !known.has(market));
  return since === 0 ? rows : [...rows, ...(await select(unknown, { since: 0, to: since }))];
}

function byMarket(rows: readonly Row[]): ReadonlyMap<number, readonly BucketPrice[]> {
  const found = new Map<number, BucketPrice[]>();
  for (const row of rows) {
    const prices = found.get(row.market) ?? [];
    prices.push({ bucketS: Number(row.bucket_s), priceMicro: storedMicro(row.price) });
    found.set(row.market, prices);
  }
  return found;
}

function before(prices: readonly BucketPrice[] = []): number | null {
  return prices.find(({ bucketS }) => bucketS === 0)?.priceMicro ?? null;
}

function within(prices: readonly BucketPrice[] = []): readonly BucketPrice[] {
  return prices.filter(({ bucketS }) => bucketS !== 0);
}
