import { priceText } from '@pm/schemas/decimal';
import type { ResolutionStatus } from '@pm/schemas/http/catalog';
import { priceOne } from '@pm/schemas/money';
import type { Market } from './market.ts';

/** Unix milliseconds as the wire has them: ISO 8601 in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The time of a closing; nothing while it is not closed, or when that was not kept. */
export function closedTimeOf(closedAtMs: number): { readonly closedTime?: string } {
  return closedAtMs === 0 ? {} : { closedTime: isoTime(closedAtMs) };
}

/**
 * Markets paired with one of another venue do not exist here; the specification lists their fields, so the root returns
 * them as empty (conventions.md 1.1).
 */
export const noMirror = { mirrorConditionId: '', mirrorClobTokenIds: '[]' } as const;

/** The reduced market of the events list (specification, "Market"). */
export function listedMarket(market: Market) {
  return { ...marketNames(market), ...noMirror };
}

function marketNames(market: Market) {
  return {
    id: String(market.market),
    question: market.question,
    conditionId: market.conditionId,
    clobTokenIds: JSON.stringify(market.tokens),
  };
}

/** A market inside an event or by its slug, without what is nested in it. */
export function eventMarket(market: Market) {
  return {
    ...marketNames(market),
    slug: market.slug,
    resolutionSource: market.resolutionSource,
    startDate: isoTime(market.startDateMs),
    endDate: isoTime(market.endDateMs),
    image: market.image,
    icon: market.icon,
    description: market.description,
    outcomes: JSON.stringify(market.outcomes),
    active: market.active,
    closed: market.closed,
    archived: market.archived,
    createdAt: isoTime(market.createdAtMs),
    updatedAt: isoTime(market.updatedAtMs),
    questionID: market.questionId,
    ...resolutionFacts(market),
  };
}

/** How far a market is resolved, in the words of the family; null before its first proposal. */
export function resolutionStatus(
  market: Pick<Market, 'payout0' | 'proposedPayout0' | 'challengedAtMs'>,
): ResolutionStatus | null {
  if (market.payout0 >= 0) return 'resolved';
  if (market.proposedPayout0 >= 0) return 'proposed';
  return market.challengedAtMs > 0 ? 'disputed' : null;
}

function resolutionFacts(market: Market) {
  const umaResolutionStatus = resolutionStatus(market);
  if (umaResolutionStatus === null) return {};
  const { proposedPayout0, paysAtMs } = market;
  const end = paysAtMs === 0 ? {} : { umaEndDate: isoTime(paysAtMs) };
  if (umaResolutionStatus !== 'proposed') return { umaResolutionStatus, ...end };
  const payouts = [priceText(proposedPayout0), priceText(priceOne - proposedPayout0)];
  return { umaResolutionStatus, ...end, proposedOutcomePrices: JSON.stringify(payouts) };
}
