import {
  microPerPrice,
  noQuote,
  priceOfMicro,
  type Quote,
  type Quotes,
  unitsOf,
} from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Market } from '@pm/domain/markets/market';
import { openEndMs } from '@pm/domain/markets/market';
import { isoTime } from '@pm/domain/markets/wire-market';
import { microPerUnit, priceOne } from '@pm/schemas/money';
import { rewardAsset } from '../markets/clob-market.ts';

/** Rewards are configured per day, without an end. */
/** Readers insist on a date. */
const openEnd = isoTime(openEndMs).slice(0, 'YYYY-MM-DD'.length);
/** Spreads are given in cents. */
const centsPerUnit = 100;

/** Whether a market has a daily reward and is open, so that orders can earn it (conventions.md 6.5). */
export function isRewarded({ rewardsDailyMicro, closed, payout0 }: Market): boolean {
  return rewardsDailyMicro > 0 && !closed && payout0 < 0;
}

/** Markets with a daily reward that take part now, by number. */
export function rewardedMarkets(catalog: Catalog): readonly Market[] {
  return [...catalog.markets()]
    .filter(isRewarded)
    .sort((left, right) => left.market - right.market);
}

/** The reward of a market as lists have it (conventions.md 6.5). */
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

/**
 * The reward of a market with its texts, prices and figures. The competition for a reward is measured by the collateral
 * of resting orders. Without a price of a day ago the price has not changed since.
 */
export function rewardedMarket(catalog: Catalog, market: Market, quotes: Quotes) {
  const { dayVolumeMicro, liquidityMicro, moves } = catalog.figuresOfMarket(market);
  return {
    ...rewardEntry(market),
    market_id: String(market.market),
    question: market.question,
    market_slug: market.slug,
    event_id: market.eventId,
    event_slug: catalog.event(market.eventId)?.slug ?? '',
    group_item_title: market.groupItemTitle,
    image: market.image,
    created_at: isoTime(market.createdAtMs),
    market_competitiveness: unitsOf(liquidityMicro),
    volume_24hr: unitsOf(dayVolumeMicro),
    spread: spreadOf(quotes.get(market.tokens[0]) ?? noQuote) / priceOne,
    one_day_price_change: unitsOf(moves.dayMicro ?? 0),
    tokens: ([0, 1] as const).map((outcome) => ({
      token_id: market.tokens[outcome],
      outcome: market.outcomes[outcome],
      price: priceOfMicro(market, outcome, quotes) / microPerUnit,
    })),
  };
}

/** In 1/10000 USDC; an empty side counts as 0 or 1, as in displayed prices. */
function spreadOf({ bid, ask }: Quote): number {
  return (ask ?? priceOne) - (bid ?? 0);
}
