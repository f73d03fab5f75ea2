import { roundedQuotient } from '@pm/domain/reading/numbers';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { microText, priceText } from '@pm/schemas/decimal';
import { type CandlesResponse, candlesPerRequestMax } from '@pm/schemas/http/reading';
import { microPerUnit } from '@pm/schemas/money';

/** As the wire gives it; times are whole Unix seconds. */
export interface CandleRequest {
  readonly interval: string | null;
  readonly startS: number | null;
  readonly endS: number | null;
  readonly limit: number | null;
}

/** Buckets of `stepS` seconds whose starts lie in [fromS, toS), with trades only; `newest`: the last ones of them. */
export interface CandlePlan {
  readonly fromS: number;
  readonly toS: number;
  readonly stepS: number;
  readonly limit: number;
  readonly newest: boolean;
}

/** Trades of one token in one bucket; prices in 1/10000 USDC, amounts in micro-units. */
export interface CandleRow {
  readonly bucketS: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volumeMicro: bigint;
  readonly notionalMicro: bigint;
  readonly trades: number;
}

/** Bucket widths in seconds (conventions.md 5.4). */
const widths: Readonly<Record<string, number>> = { '1m': 60, '5m': 300, '1h': 3_600, '1d': 86_400 };
const limitByDefault = 500;

/**
 * Without a start the newest candles are meant, with one those from there on. Days begin at 00:00 UTC. A bucket belongs
 * to the range when any second of it does, and is then returned whole.
 */
export function planCandles(request: CandleRequest, nowS: number): CandlePlan | ReadRefusal {
  const { interval, startS, endS, limit } = request;
  const stepS = widthOf(interval ?? '1m');
  if (stepS === null) return refusals.invalidPayload;
  if (startS !== null && startS > (endS ?? nowS)) return refusals.invalidPayload;
  if ((limit ?? 0) > candlesPerRequestMax) return refusals.payloadTooLarge;
  const toS = (Math.floor((endS ?? nowS) / stepS) + 1) * stepS;
  const fromS = startS === null ? 0 : Math.floor(startS / stepS) * stepS;
  return { fromS, toS, stepS, limit: limit ?? limitByDefault, newest: startS === null };
}

function widthOf(interval: string): number | null {
  return Object.hasOwn(widths, interval) ? (widths[interval] ?? null) : null;
}

export function wireCandle(row: CandleRow): CandlesResponse['candles'][number] {
  return {
    t: row.bucketS,
    open: priceText(row.open),
    high: priceText(row.high),
    low: priceText(row.low),
    close: priceText(row.close),
    volume: microText(Number(row.volumeMicro)),
    notional: microText(Number(row.notionalMicro)),
    vwap: microText(vwapMicro(row)),
    count: row.trades,
  };
}

/** Notional by volume in micro-USDC, rounded half up. */
export function vwapMicro({
  notionalMicro,
  volumeMicro,
}: Pick<CandleRow, 'notionalMicro' | 'volumeMicro'>): number {
  if (volumeMicro === 0n) return 0;
  return roundedQuotient(notionalMicro * BigInt(microPerUnit), volumeMicro);
}
