import { noQuote, payoutOf, priceOfMicro, type Quotes, unitsOf } from '@pm/domain/books/quote';
import { type MarketFigures, shownMoves } from '@pm/domain/markets/figures';
import { acceptsOrders, feeRateResponse, type Market, openEndMs } from '@pm/domain/markets/market';
import { closedTimeOf, eventMarket, isoTime } from '@pm/domain/markets/wire-market';
import { microText } from '@pm/schemas/decimal';
import { microPerUnit, priceOne } from '@pm/schemas/money';
import { pricePerCent, rewardAsset } from './clob-market.ts';
import { competitiveness } from './price-moves.ts';

/** Data of a fuller market besides the catalog. */
export interface MarketContext {
  readonly quotes: Quotes;
  figures(market: Market): MarketFigures;
}

/** A catalog market with the fields that clients of the mount `/gamma` need to trade (conventions.md 1.1). */
export function familyMarket(market: Market, context: MarketContext) {
  return { ...eventMarket(market), ...familyFacts(market, context) };
}

/** The fields of it that are not in the catalog, or are in no other form. What a market has not is left out. */
export function familyFacts(market: Market, { quotes, figures }: MarketContext) {
  return {
    ...tradingFacts(market, quotes),
    ...listingFacts(market),
    ...feeFacts(market),
    ...rewardFacts(market),
    ...figureFacts(market, figures(market)),
    ...bestPrices(market, quotes),
  };
}

function tradingFacts(market: Market, quotes: Quotes) {
  const prices = ([0, 1] as const).map((outcome) =>
    microText(priceOfMicro(market, outcome, quotes)),
  );
  return {
    outcomePrices: JSON.stringify(prices),
    orderPriceMinTickSize: market.tick / priceOne,
    orderMinSize: market.minSizeMicro / microPerUnit,
    negRisk: market.negRisk,
    ...(market.negRiskMarketId === '' ? {} : { negRiskMarketID: market.negRiskMarketId }),
    acceptingOrders: acceptsOrders(market),
    // From its listing on a market takes what its mode allows; its start is announced only (operator.md).
    acceptingOrdersTimestamp: isoTime(market.createdAtMs),
    enableOrderBook: true,
    marketMakerAddress: '',
  };
}

function listingFacts(market: Market) {
  return {
    category: market.category,
    ...(market.groupItemTitle === '' ? {} : { groupItemTitle: market.groupItemTitle }),
    startDateIso: isoDay(market.startDateMs),
    ...(market.endDateMs === openEndMs ? {} : { endDateIso: isoDay(market.endDateMs) }),
    ...closedTimeOf(market.closedAtMs),
    umaResolutionStatuses: JSON.stringify(resolutionStatuses(market)),
  };
}

/** Each status that the resolution of a market has had, the newest last. */
function resolutionStatuses(market: Market): readonly string[] {
  const { challenges, proposedPayout0, payout0 } = market;
  return [
    ...Array.from({ length: challenges }, () => ['proposed', 'disputed']).flat(),
    ...(proposedPayout0 >= 0 ? ['proposed'] : []),
    ...(payout0 >= 0 ? ['resolved'] : []),
  ];
}

function feeFacts(market: Market) {
  if (market.feeRateBps === 0) return { feesEnabled: false };
  const { rate, exponent, takerOnly, rebateRate } = feeRateResponse(market).fee_schedule;
  return { feesEnabled: true, feeSchedule: { rate, exponent, takerOnly, rebateRate } };
}

/** The daily reward, where there is one, and what an order needs to earn it; spreads are in cents. */
function rewardFacts(market: Market) {
  const { rewardsDailyMicro, rewardsMinSizeMicro, rewardsMaxSpread } = market;
  const reward = {
    id: String(market.market),
    conditionId: market.conditionId,
    assetAddress: rewardAsset,
    rewardsAmount: 0,
    rewardsDailyRate: unitsOf(rewardsDailyMicro),
    startDate: isoDay(market.startDateMs),
  };
  return {
    ...(rewardsDailyMicro === 0 ? {} : { clobRewards: [reward] }),
    rewardsMinSize: unitsOf(rewardsMinSizeMicro),
    rewardsMaxSpread: rewardsMaxSpread / pricePerCent,
  };
}

function figureFacts(market: Market, figures: MarketFigures) {
  const { dayMicro, weekMicro, monthMicro } = shownMoves(market, figures);
  return {
    volume: microText(figures.volumeMicro),
    volumeNum: unitsOf(figures.volumeMicro),
    volume24hr: unitsOf(figures.dayVolumeMicro),
    volume1wk: unitsOf(figures.weekVolumeMicro),
    volume1mo: unitsOf(figures.monthVolumeMicro),
    volume1yr: unitsOf(figures.yearVolumeMicro),
    liquidity: microText(figures.liquidityMicro),
    liquidityNum: unitsOf(figures.liquidityMicro),
    ...(dayMicro === null ? {} : { oneDayPriceChange: unitsOf(dayMicro) }),
    ...(weekMicro === null ? {} : { oneWeekPriceChange: unitsOf(weekMicro) }),
    ...(monthMicro === null ? {} : { oneMonthPriceChange: unitsOf(monthMicro) }),
  };
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
    competitive: competitiveness({ bid: bid ?? 0, ask: ask ?? priceOne }),
  };
}

/** The day of a moment in UTC, YYYY-MM-DD. */
function isoDay(timeMs: number): string {
  return isoTime(timeMs).slice(0, 'YYYY-MM-DD'.length);
}
