import { microPerUnit } from '@pm/schemas';
import { microPerPrice, priceOfMicro, type Quotes, unitsOf } from '../books/quote.ts';
import type { Catalog } from '../markets/catalog.ts';
import { rewardAsset } from '../markets/clob-market.ts';
import type { Market } from '../markets/market.ts';
import { openEndMs } from '../markets/market.ts';
import { isoTime } from '../markets/wire-market.ts';

/** Rewards are configured per day, without an end. */
const openEnd = isoTime(openEndMs).slice(0, 'YYYY-MM-DD'.length);
/** Spreads are given in cents. */
const centsPerUnit = 100;

/** Whether a market has a daily reward and is open, so that orders can earn it (conventions.md 1.8). */
export function isRewarded({ rewardsDailyMicro, closed, payout0 }: Market): boolean {
  return rewardsDailyMicro > 0 && !closed && payout0 < 0;
}

/** Markets with a daily reward that take part now, by number. */
export function rewardedMarkets(catalog: Catalog): readonly Market[] {
  return [...catalog.markets()]
    .filter(isRewarded)
    .sort((left, right) => left.market - right.market);
}

/** The reward of a market as lists have it (conventions.md 1.8). */
export function rewardEntry(market: Market) {
  const perDay = unitsOf(market.rewardsDailyMicro);
  return {
    condition_id: market.conditionId,
    rewards_max_spread: (market.rewardsMaxSpread * microPerPrice * centsPerUnit) / microPerUnit,
    rewards_min_size: unitsOf(market.rewardsMinSizeMicro),
    rewards_config: [
      {
        id: market.market,
        asset_address: rewardAsset,
        start_date: isoTime(market.startDateMs).slice(0, 10),
        end_date: openEnd,
        rate_per_day: perDay,
        total_rewards: 0,
      },
    ],
    sponsored_daily_rate: 0,
    sponsors_count: 0,
    native_daily_rate: perDay,
    total_daily_rate: perDay,
  };
}

/** The same with the words and prices of the market. */
export function rewardedMarket(catalog: Catalog, market: Market, quotes: Quotes) {
  return {
    ...rewardEntry(market),
    question: market.question,
    market_slug: market.slug,
    event_slug: catalog.event(market.eventId)?.slug ?? '',
    image: market.image,
    market_competitiveness: 0,
    tokens: ([0, 1] as const).map((outcome) => ({
      token_id: market.tokens[outcome],
      outcome: market.outcomes[outcome],
      price: priceOfMicro(market, outcome, quotes) / microPerUnit,
    })),
  };
}
