import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Listing } from '../core/catalog.ts';
import { type BucketPrice, isOneSided, type PriceFacts } from '../core/history.ts';
import type { HistoryPlan } from '../core/history-plan.ts';
import { storedMicro } from '../core/stored-numbers.ts';

interface Row {
  readonly market: number;
  readonly outcome: number;
  /** Start of the bucket, Unix seconds; 0 for the newest value before the range. */
  readonly bucket_s: number;
  readonly price: string;
}

/** The start of the range stands for everything before it, so one pass gives buckets and what came before. */
const bucketOf = `if(bucket < fromUnixTimestamp({from:UInt32}), 0,
  intDiv(toUnixTimestamp(bucket), {step:UInt32}) * {step:UInt32})`;

/** The newest version of the newest minute of each bucket: exact without FINAL. */
const midpointSql = `
SELECT market, 0 AS outcome, ${bucketOf} AS bucket_s, argMax(midpoint, (bucket, version)) AS price
FROM ${tables.midpoints.name}
WHERE market IN {markets:Array(UInt32)} AND bucket < fromUnixTimestamp({to:UInt32})
GROUP BY market, bucket_s
ORDER BY market, bucket_s
SETTINGS max_execution_time = 5`;

const tradeSql = `
SELECT market, outcome, ${bucketOf} AS bucket_s, argMax(close, (bucket, version)) AS price
FROM ${tables.candles.name}
WHERE market IN {markets:Array(UInt32)} AND bucket < fromUnixTimestamp({to:UInt32})
GROUP BY market, outcome, bucket_s
ORDER BY market, outcome, bucket_s
SETTINGS max_execution_time = 5`;

/**
 * What is known of the prices of tokens, one entry each. Trades are read only for markets whose book had an empty side before or
 * within the range: otherwise the midpoint counts (core/history.ts).
 */
export async function readPrices(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  listings: readonly Listing[],
  plan: HistoryPlan,
): Promise<readonly PriceFacts[]> {
  const bounds = { from: plan.fromS, to: plan.toS, step: plan.stepS };
  const numbers = [...new Set(listings.map(({ market }) => market.market))];
  const midpoints = byToken(
    await clickhouse.selectRows<Row>(midpointSql, { markets: numbers, ...bounds }),
  );
  const oneSided = numbers.filter((number) => {
    const known = midpoints.get(`${number}:0`) ?? [];
    return before(known) === null || known.some(({ priceMicro }) => isOneSided(priceMicro));
  });
  const trades = byToken(
    oneSided.length === 0
      ? []
      : await clickhouse.selectRows<Row>(tradeSql, { markets: oneSided, ...bounds }),
  );
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
