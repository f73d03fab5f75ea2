import { microPerPrice, midpointMicro, type Quote } from '../books/quote.ts';
import type { Market } from '../markets/catalog.ts';
import type { OrderHistory } from './order-read.ts';

/**
 * Whether an order earns liquidity rewards now: its market has them, it rests with at least their smallest size, and no
 * farther from the midpoint of its token than they allow (conventions.md 1.6). Without a midpoint nothing does.
 */
export function isScoring(
  history: OrderHistory,
  market: Market | undefined,
  quote: Quote,
): boolean {
  if (history.kind !== 'accepted' || history.facts.status !== 'LIVE') return false;
  if (market === undefined || market.rewardsDailyMicro === 0 || market.mode !== 'OPEN')
    return false;
  const { order, facts } = history;
  if (order.sizeMicro - facts.filledMicro < market.rewardsMinSizeMicro) return false;
  const midpoint = midpointMicro(quote);
  if (midpoint === null) return false;
  const distanceMicro = Math.abs(order.price * microPerPrice - midpoint);
  return distanceMicro <= market.rewardsMaxSpread * microPerPrice;
}
