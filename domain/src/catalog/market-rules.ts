import type { CatalogMarket } from '@pm/schemas/log/catalog';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { complementPrice } from '@pm/schemas/money';

const firstVersion = 1;

/** The fee schedule of a market, as the wire calls it; its version counts the changes. */
type FeeSchedule = Pick<CatalogMarket, 'feeRateBps' | 'rebateBps'>;

/**
 * The version of a schedule that is to be listed: one more than that of the listed one if it differs. A new market has
 * the first.
 */
export function feeVersionOf(
  known: (FeeSchedule & Pick<CatalogMarket, 'feeVersion'>) | undefined,
  { feeRateBps, rebateBps }: FeeSchedule,
): number {
  if (known === undefined) return firstVersion;
  const isSame = known.feeRateBps === feeRateBps && known.rebateBps === rebateBps;
  return isSame ? known.feeVersion : known.feeVersion + 1;
}

/** Beyond these prices of a token a tick of 0.01 is too coarse, 1/10000 USDC (conventions.md 3.5). */
const highPrice = 9_600;
const lowPrice = complementPrice(highPrice);
const coarseTick = 100;
const refinedTick = 10;

/** The market that an event shows beyond the limits, by a trade or by its best prices; null for all others. */
export function extremeMarketOf(event: ExecutionEvent): number | null {
  if (event.kind === 'TopChanged') {
    const isExtreme = event.bid > highPrice || (event.ask > 0 && event.ask < lowPrice);
    return isExtreme ? event.market : null;
  }
  if (event.kind !== 'Fill') return null;
  // Both tokens are beyond the limits together, so either price will do.
  return event.takerPrice > highPrice || event.takerPrice < lowPrice ? event.market : null;
}

/** The market with its finer tick; null when its tick is not the one that is refined, or it is resolved. */
export function refined(market: CatalogMarket, nowMs: number): CatalogMarket | null {
  if (market.tick !== coarseTick || market.payout0 >= 0) return null;
  return { ...market, tick: refinedTick, updatedAtMs: nowMs };
}
