import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Listing, Market } from '../core/catalog.ts';
import { type BucketPrice, isOneSided, type PriceFacts } from '../core/history.ts';
import { firstPriceS, type HistoryPlan } from '../core/history-plan.ts';
import { storedMicro } from '../core/stored-numbers.ts';

interface Row {
  readonly market: number;
  readonly outcome: number;
  /** Start of the bucket, Unix seconds; 0 for the newest value before the range. */
  readonly bucket_s: number;
  readonly price: string;
}

/** A price before the range is looked for so far back first: markets that trade have one there, whatever their history. */
const LOOK_BACK_S = 86_400;

/** The start of the range stands for everything before it, so one pass gives buckets and what came before. */
const bucketOf = `if(bucket < fromUnixTimestamp({from:UInt32}), 0,
  intDiv(toUnixTimestamp(bucket), {step:UInt32}) * {step:UInt32})`;
const inRange = `market IN {markets:Array(UInt32)}
  AND bucket >= fromUnixTimestamp({since:UInt32}) AND bucket < fromUnixTimestamp({to:UInt32})`;

/**
 * The newest row of each bucket: exact without FINAL, since the rows of a market come from one partition and the later minute, and
 * the later state of a minute, has the larger version.
 */
const midpointSql = `
SELECT market, 0 AS outcome, ${bucketOf} AS bucket_s, argMax(midpoint, version) AS price
FROM ${tables.midpoints.name}
WHERE ${inRange}
GROUP BY market, bucket_s
ORDER BY market, bucket_s
SETTINGS max_execution_time = 5`;

const tradeSql = `
SELECT market, outcome, ${bucketOf} AS bucket_s, argMax(close, version) AS price
FROM ${tables.candles.name}
WHERE ${inRange}
GROUP BY market, outcome, bucket_s
ORDER BY market, outcome, bucket_s
SETTINGS max_execution_time = 5`;

/** A token of a market; midpoints are those of outcome 0. */
interface Series {
  readonly market: number;
  readonly outcome: number;
  /** No price is older, Unix seconds. */
  readonly sinceS: number;
}

function seriesOf(market: Market, outcome: number): Series {
  return { market: market.market, outcome, sinceS: firstPriceS([market]) };
}

/**
 * What is known of the prices of tokens, one entry each. Trades are read only for markets whose book had an empty side before or
 * within the range: otherwise the midpoint counts (core/history.ts).
 */
export async function readPrices(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  listings: readonly Listing[],
  plan: HistoryPlan,
): Promise<readonly PriceFacts[]> {
  const markets = new Map(listings.map(({ market }) => [market.market, market]));
  const read = async (sql: string, wanted: readonly Series[]) =>
    byToken(await readSeries(clickhouse, sql, { wanted, plan }));
  const midpoints = await read(
    midpointSql,
    [...markets.values()].map((market) => seriesOf(market, 0)),
  );
  const oneSided = listings
    .map(({ market, outcome }) => seriesOf(market, outcome))
    .filter(({ market }) => {
      const known = midpoints.get(`${market}:0`) ?? [];
      return before(known) === null || known.some(({ priceMicro }) => isOneSided(priceMicro));
    });
  const trades = await read(tradeSql, oneSided);
  return listings.map(({ market, outcome }) => {
    const ofMarket = midpoints.get(`${market.market}:0`);
    const ofToken = trades.get(`${market.market}:${outcome}`);
    return {
      midpointBefore: before(ofMarket),
      midpoints: within(ofMarket),
      tradeBefore: before(ofToken),
      trades: within(ofToken),
    };
  });
}

/**
 * The buckets of the range and the newest price before it; all of a history is read only where the last day before says nothing and
 * the market is older than that.
 */
async function readSeries(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  sql: string,
  { wanted, plan }: { readonly wanted: readonly Series[]; readonly plan: HistoryPlan },
): Promise<readonly Row[]> {
  const { fromS: from, toS: to, stepS: step } = plan;
  const select = async (series: readonly Series[], range: { since: number; to: number }) => {
    const markets = [...new Set(series.map(({ market }) => market))];
    if (markets.length === 0) return [];
    return await clickhouse.selectRows<Row>(sql, { markets, from, step, ...range });
  };
  const since = Math.max(0, from - LOOK_BACK_S);
  const rows = await select(wanted, { since, to });
  const known = new Set(
    rows
      .filter(({ bucket_s }) => Number(bucket_s) === 0)
      .map((row) => `${row.market}:${row.outcome}`),
  );
  const unknown = wanted.filter(
    ({ market, outcome, sinceS }) => sinceS < since && !known.has(`${market}:${outcome}`),
  );
  return since === 0 ? rows : [...rows, ...(await select(unknown, { since: 0, to: since }))];
}

function byToken(rows: readonly Row[]): ReadonlyMap<string, readonly BucketPrice[]> {
  const found = new Map<string, BucketPrice[]>();
  for (const row of rows) {
    const key = `${row.market}:${row.outcome}`;
    const prices = found.get(key) ?? [];
    prices.push({ bucketS: Number(row.bucket_s), priceMicro: storedMicro(row.price) });
    found.set(key, prices);
  }
  return found;
}

function before(prices: readonly BucketPrice[] = []): number | null {
  return prices.find(({ bucketS }) => bucketS === 0)?.priceMicro ?? null;
}

function within(prices: readonly BucketPrice[] = []): readonly BucketPrice[] {
  return prices.filter(({ bucketS }) => bucketS !== 0);
}
