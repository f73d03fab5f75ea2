import { unitsOf } from '@pm/domain/books/quote';
import type { Outcome } from '@pm/domain/markets/market';
import type { HistoryPoint } from '@pm/schemas/http/reading';
import { microPerUnit } from '@pm/schemas/money';
import type { HistoryPlan } from './history-plan.ts';

/** The last price of one bucket in micro-USDC; `bucketS` is its start. */
export interface BucketPrice {
  readonly bucketS: number;
  readonly priceMicro: number;
}

/** Known prices of one market, in terms of token 0. */
export interface PriceFacts {
  /** Newest midpoint before the range, 0 (as in the buckets) for a book with an empty side; null when there is none. */
  readonly midpointBefore: number | null;
  readonly midpoints: readonly BucketPrice[];
  /** Newest trade of the market before the range; null when there is none. */
  readonly tradeBefore: number | null;
  readonly trades: readonly BucketPrice[];
  /** The payout, and the bucket of the resolution, which may be outside of the range; null before it. */
  readonly payout: BucketPrice | null;
}

export const noPrices: PriceFacts = {
  midpointBefore: null,
  midpoints: [],
  tradeBefore: null,
  trades: [],
  payout: null,
};

/**
 * One point per bucket from the first known price on, the last known one carried forward. While a side of the book is
 * empty the last trade stands in, and without one there is no point (conventions.md 5.3). A missing minute means
 * nothing changed. From its resolution on a market has its payout.
 */
export function historyPoints(
  plan: HistoryPlan,
  facts: PriceFacts,
  outcome: Outcome,
): readonly HistoryPoint[] {
  const midpoints = byBucket(facts.midpoints);
  const trades = byBucket(facts.trades);
  let midpoint = facts.midpointBefore;
  let trade = facts.tradeBefore;
  const points: HistoryPoint[] = [];
  for (let bucketS = plan.fromS; bucketS < plan.toS; bucketS += plan.stepS) {
    midpoint = midpoints.get(bucketS) ?? midpoint;
    trade = trades.get(bucketS) ?? trade;
    const priceMicro = payoutIn(facts, bucketS) ?? (isOneSided(midpoint) ? trade : midpoint);
    if (priceMicro !== null)
      points.push({ t: bucketS, p: unitsOf(ofOutcome(priceMicro, outcome)) });
  }
  return points;
}

function payoutIn({ payout }: PriceFacts, bucketS: number): number | null {
  return payout !== null && bucketS >= payout.bucketS ? payout.priceMicro : null;
}

/** Whether a midpoint is none: a side of the book was empty, from the start (null) or again (0). */
export function isOneSided(midpointMicro: number | null): midpointMicro is 0 | null {
  return midpointMicro === null || midpointMicro === 0;
}

function byBucket(prices: readonly BucketPrice[]): ReadonlyMap<number, number> {
  return new Map(prices.map(({ bucketS, priceMicro }) => [bucketS, priceMicro]));
}

/** The price of token 1 is what is left of one USDC. */
function ofOutcome(priceMicro: number, outcome: Outcome): number {
  return outcome === 0 ? priceMicro : microPerUnit - priceMicro;
}
