import type { Listing } from '@pm/domain/markets/market';
import { storedPrice } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CandlePlan, CandleRow } from './candles.ts';

interface Row {
  readonly bucket_s: number;
  readonly opened: string;
  readonly highest: string;
  readonly lowest: string;
  readonly closed: string;
  /** Micro-units: sums of decimals may leave the safe integers. */
  readonly volume_micro: string;
  readonly notional_micro: string;
  readonly fills: string;
}

/** Minutes are absolute values by version, so FINAL leaves each counted once, and wider buckets are sums of minutes. */
const candlesSql = (order: 'ASC' | 'DESC') => `
SELECT intDiv(toUnixTimestamp(bucket), {step:UInt32}) * {step:UInt32} AS bucket_s,
  argMin(open, bucket) AS opened, max(high) AS highest, min(low) AS lowest, argMax(close, bucket) AS closed,
  toString(toInt128(sum(volume) * 1000000)) AS volume_micro,
  toString(toInt128(sum(notional) * 1000000)) AS notional_micro,
  sum(trades) AS fills
FROM ${tables.candles.name} FINAL
WHERE market = {market:UInt32} AND outcome = {outcome:UInt8}
  AND bucket >= fromUnixTimestamp({from:UInt32}) AND bucket < fromUnixTimestamp({to:UInt32})
GROUP BY bucket_s
ORDER BY bucket_s ${order}
LIMIT {limit:UInt32}
SETTINGS max_execution_time = 5`;

/** Candles of a token, oldest first. */
export async function readCandles(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { market, outcome }: Listing,
  { fromS, toS, stepS, limit, newest }: CandlePlan,
): Promise<readonly CandleRow[]> {
  const params = { market: market.market, outcome, from: fromS, to: toS, step: stepS, limit };
  const rows = await clickhouse.selectRows<Row>(candlesSql(newest ? 'DESC' : 'ASC'), params);
  const candles = rows.map(candleOf);
  return newest ? candles.toReversed() : candles;
}

function candleOf(row: Row): CandleRow {
  return {
    bucketS: Number(row.bucket_s),
    open: storedPrice(row.opened),
    high: storedPrice(row.highest),
    low: storedPrice(row.lowest),
    close: storedPrice(row.closed),
    volumeMicro: BigInt(row.volume_micro),
    notionalMicro: BigInt(row.notional_micro),
    trades: Number(row.fills),
  };
}
