import { type ReadRefusal, refusals } from './refusal.ts';

/** What part of a price history is asked for: buckets of `stepS` seconds whose starts lie in [fromS, toS). */
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

/** Supported bucket widths in minutes (docs/conventions.md 1.4). */
export const stepsMinutes = [1, 5, 30, 180, 720] as const;

/** Look-back in seconds and the width the real application uses for it. `1m` is a month; `max` and `all` have no bound. */
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

/** Points of one token in one answer; longer ranges get wider buckets, then a later start. */
export const historyPointsMax = 15_000;

/** The plan for a request, or why not. `nowS` bounds the range: prices are not carried into the future. */
export function planHistory(request: HistoryRequest, nowS: number): HistoryPlan | ReadRefusal {
  const { interval, startS, endS, fidelity } = request;
  if (interval !== null && (startS !== null || endS !== null)) return refusals.intervalWithRange;
  if (interval !== null) return planInterval(interval, fidelity, nowS);
  if (startS === null) return refusals.invalidPayload;
  const toS = Math.min(endS ?? nowS, nowS);
  if (startS > (endS ?? nowS)) return refusals.invalidPayload;
  const minutes = fidelity === null ? widthForSpan(toS - startS) : stepFor(fidelity);
  return bounded(startS, toS, minutes);
}

function planInterval(
  interval: string,
  fidelity: number | null,
  nowS: number,
): HistoryPlan | ReadRefusal {
  const known = Object.hasOwn(intervals, interval) ? intervals[interval] : undefined;
  if (known === undefined) return refusals.invalidPayload;
  // Without a bound the buckets are half days, whatever was asked for.
  if (known.backS === null) return bounded(0, nowS, known.minutes);
  const minutes = fidelity === null ? known.minutes : stepFor(fidelity);
  return bounded(Math.max(0, nowS - known.backS), nowS, minutes);
}

/** The next supported width at or above; the widest for anything wider. */
function stepFor(fidelity: number): number {
  return stepsMinutes.find((step) => step >= fidelity) ?? 720;
}

function widthForSpan(spanS: number): number {
  if (spanS <= 2 * dayS) return 5;
  if (spanS <= 7 * dayS) return 30;
  return spanS <= 30 * dayS ? 180 : 720;
}

/** Buckets start at whole multiples of their width, so half days start at 00:00 and 12:00 UTC. */
function bounded(fromS: number, toS: number, minutes: number): HistoryPlan {
  const wide = stepsMinutes.find(
    (step) => step >= minutes && (toS - fromS) / (step * minuteS) < historyPointsMax,
  );
  const stepS = (wide ?? 720) * minuteS;
  const earliest = toS - (historyPointsMax - 1) * stepS;
  const startS = Math.max(fromS, earliest, 0);
  return { fromS: Math.floor(startS / stepS) * stepS, toS, stepS };
}
