import type { Market } from '@pm/domain/markets/market';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';

/** Requested part of a price history: buckets of `stepS` seconds whose starts lie in [fromS, toS). */
export interface HistoryPlan {
  readonly fromS: number;
  readonly toS: number;
  readonly stepS: number;
}

/** As the wire gives them; numbers are whole seconds and whole minutes. */
export interface HistoryRequest {
  readonly interval: string | null;
  readonly startS: number | null;
  readonly endS: number | null;
  /** Bucket width in minutes. */
  readonly fidelity: number | null;
}

const minuteS = 60;
const dayS = 86_400;

/** Supported bucket widths in minutes (conventions.md 5.3). */
export const stepsMinutes = [1, 5, 30, 180, 720] as const;
const widestMinutes = 720;

/**
 * Look-back in seconds and the width the real application uses for it. `1m` is a month; `max` and `all` have no bound.
 */
const intervals: Readonly<Record<string, { backS: number | null; minutes: number }>> = {
  '1m': { backS: 30 * dayS, minutes: 180 },
  '5m': { backS: 5 * minuteS, minutes: 1 },
  '15m': { backS: 15 * minuteS, minutes: 1 },
  '1h': { backS: 60 * minuteS, minutes: 1 },
  '6h': { backS: 360 * minuteS, minutes: 1 },
  '1d': { backS: dayS, minutes: 5 },
  '1w': { backS: 7 * dayS, minutes: 30 },
  max: { backS: null, minutes: 720 },
  all: { backS: null, minutes: 720 },
};

/** Points of one token in one answer; longer histories get wider buckets, then a later start. */
export const historyPointsMax = 15_000;

/** Clocks of partitions and of who lists markets differ by seconds; to look too far back costs a statement. */
const clockMarginS = 3_600;

/** No price of these markets is older, Unix seconds; 0 when there is none. */
export function firstPriceS(markets: readonly Pick<Market, 'createdAtMs'>[]): number {
  if (markets.length === 0) return 0;
  const firstMs = Math.min(...markets.map(({ createdAtMs }) => createdAtMs));
  return Math.floor(firstMs / 1000) - clockMarginS;
}

/** Time of the request, and the time before which there cannot be a price, Unix seconds. */
export interface HistoryTimes {
  readonly nowS: number;
  readonly firstS: number;
}

/** The plan for a request, or why not. Now bounds the range: prices are not carried into the future. */
export function planHistory(
  request: HistoryRequest,
  times: HistoryTimes,
): HistoryPlan | ReadRefusal {
  const { nowS, firstS } = times;
  const { interval, startS, endS, fidelity } = request;
  if (interval !== null && (startS !== null || endS !== null)) return refusals.intervalWithRange;
  if (interval !== null) return planInterval(interval, fidelity, times);
  if (startS === null) return refusals.invalidPayload;
  const toS = Math.min(endS ?? nowS, nowS);
  if (startS > (endS ?? nowS)) return refusals.invalidPayload;
  const minutes = fidelity === null ? widthForSpan(toS - startS) : stepFor(fidelity);
  return bounded({ startS, endS: toS, firstS }, minutes);
}

function planInterval(
  interval: string,
  fidelity: number | null,
  { nowS: endS, firstS }: HistoryTimes,
): HistoryPlan | ReadRefusal {
  const known = Object.hasOwn(intervals, interval) ? intervals[interval] : undefined;
  if (known === undefined) return refusals.invalidPayload;
  // Without a bound the buckets are half days, whatever was requested.
  if (known.backS === null) return bounded({ startS: 0, endS, firstS }, known.minutes);
  const minutes = fidelity === null ? known.minutes : stepFor(fidelity);
  return bounded({ startS: Math.max(0, endS - known.backS), endS, firstS }, minutes);
}

/** The next supported width at or above; the widest for anything wider. */
function stepFor(fidelity: number): number {
  return stepsMinutes.find((step) => step >= fidelity) ?? widestMinutes;
}

function widthForSpan(spanS: number): number {
  if (spanS <= 2 * dayS) return 5;
  if (spanS <= 7 * dayS) return 30;
  return spanS <= 30 * dayS ? 180 : 720;
}

interface Range {
  readonly startS: number;
  readonly endS: number;
  readonly firstS: number;
}

/**
 * Buckets start at whole multiples of their width, so half days start at 00:00 and 12:00 UTC; the last one is read to
 * its end. They are as wide as requested, unless the range could have too many.
 */
function bounded({ startS, endS, firstS }: Range, minutes: number): HistoryPlan {
  const sinceS = Math.max(startS, firstS);
  const wide = stepsMinutes.find(
    (step) => step >= minutes && bucketsOf(sinceS, endS, step * minuteS) <= historyPointsMax,
  );
  const stepS = (wide ?? widestMinutes) * minuteS;
  const toS = Math.ceil(endS / stepS) * stepS;
  const earliestS = toS - historyPointsMax * stepS;
  return { fromS: Math.max(Math.floor(startS / stepS) * stepS, earliestS, 0), toS, stepS };
}

function bucketsOf(fromS: number, toS: number, stepS: number): number {
  return Math.ceil(toS / stepS) - Math.floor(fromS / stepS);
}
