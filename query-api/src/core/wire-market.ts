import { microPerUnit, microText, priceOne } from '@pm/schemas';
import type { Market } from './catalog.ts';
import { priceOfMicro, type Quotes } from './displayed-price.ts';

/** Unix milliseconds as the wire has them: ISO 8601 in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The reduced market of the events list (specification, "Market"). */
export function listedMarket(market: Market) {
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
    ...listedMarket(market),
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
  };
}

/** What clients of the mount `/gamma` need to trade from a catalog market (docs/conventions.md, Dialects). */
export function familyMarket(market: Market, quotes: Quotes) {
  const prices = ([0, 1] as const).map((outcome) =>
    microText(priceOfMicro(market, outcome, quotes)),
  );
  return {
    ...eventMarket(market),
    outcomePrices: JSON.stringify(prices),
    orderPriceMinTickSize: market.tick / priceOne,
    orderMinSize: market.minSizeMicro / microPerUnit,
    negRisk: market.negRisk,
    acceptingOrders: acceptsOrders(market),
    enableOrderBook: true,
    marketMakerAddress: '',
  };
}

export function acceptsOrders(market: Market): boolean {
  if (!market.active || market.closed || market.archived) return false;
  return market.mode === 'OPEN' || market.mode === 'POST_ONLY';
}
