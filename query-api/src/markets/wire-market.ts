import { microPerUnit, microText, priceOne, priceText } from '@pm/schemas';
import { noQuote, payoutOf, priceOfMicro, type Quotes, unitsOf } from '../books/quote.ts';
import type { Figures } from './figures.ts';
import { acceptsOrders, type Market } from './market.ts';

/** Unix milliseconds as the wire has them: ISO 8601 in UTC with milliseconds. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
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

/** How far a market is resolved, in the words of the family; nothing before its first proposal. */
function resolutionFacts({ payout0, proposedPayout0, paysAtMs, challengedAtMs }: Market) {
  const end = paysAtMs === 0 ? {} : { umaEndDate: isoTime(paysAtMs) };
  if (payout0 >= 0) return { umaResolutionStatus: 'resolved', ...end };
  if (proposedPayout0 >= 0) {
    const payouts = [priceText(proposedPayout0), priceText(priceOne - proposedPayout0)];
    const proposedOutcomePrices = JSON.stringify(payouts);
    return { umaResolutionStatus: 'proposed', ...end, proposedOutcomePrices };
  }
  return challengedAtMs > 0 ? { umaResolutionStatus: 'disputed', ...end } : {};
}

/** A catalog market with the fields that clients of the mount `/gamma` need to trade (conventions.md 1.1). */
export function familyMarket(market: Market, context: MarketContext) {
  return { ...eventMarket(market), ...familyFacts(market, context) };
}

/** The fields of it that are not in the catalog, or are in no other form. */
export function familyFacts(market: Market, { quotes, figures }: MarketContext) {
  const prices = ([0, 1] as const).map((outcome) =>
    microText(priceOfMicro(market, outcome, quotes)),
  );
  const { volumeMicro, dayVolumeMicro, liquidityMicro } = figures(market);
  return {
    outcomePrices: JSON.stringify(prices),
    orderPriceMinTickSize: market.tick / priceOne,
    orderMinSize: market.minSizeMicro / microPerUnit,
    negRisk: market.negRisk,
    acceptingOrders: acceptsOrders(market),
    enableOrderBook: true,
    marketMakerAddress: '',
    category: market.category,
    volume: microText(volumeMicro),
    volumeNum: unitsOf(volumeMicro),
    volume24hr: unitsOf(dayVolumeMicro),
    liquidity: microText(liquidityMicro),
    liquidityNum: unitsOf(liquidityMicro),
    ...bestPrices(market, quotes),
  };
}

/** Data of a fuller market besides the catalog. */
export interface MarketContext {
  readonly quotes: Quotes;
  figures(market: Market): Figures;
}

/** Prices of outcome 0; a side without one is left out. Once resolved it was traded last at its payout. */
function bestPrices(market: Market, quotes: Quotes) {
  const { bid, ask, last: lastTrade } = quotes.get(market.tokens[0]) ?? noQuote;
  const last = payoutOf(market, 0) ?? lastTrade;
  return {
    ...(bid === null ? {} : { bestBid: bid / priceOne }),
    ...(ask === null ? {} : { bestAsk: ask / priceOne }),
    ...(bid === null || ask === null ? {} : { spread: (ask - bid) / priceOne }),
    ...(last === null ? {} : { lastTradePrice: last / priceOne }),
  };
}
