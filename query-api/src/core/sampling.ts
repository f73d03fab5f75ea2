import { microPerUnit, priceOne, type SamplingMarket } from '@pm/schemas';
import type { Catalog, Market } from './catalog.ts';
import { payoutOf, priceOfMicro, type Quotes, unitsOf } from './displayed-price.ts';
import { metadataOf } from './wire-event.ts';
import { acceptsOrders, isoTime } from './wire-market.ts';

/** Markets of a page. */
export const samplingPageSize = 500;

/** Rewards are paid in this token: bridged USDC on Polygon, the collateral of the family. */
const rewardAsset = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
/** 1/10000 USDC in a cent. */
const pricePerCent = 100;

/** Markets that earn liquidity rewards now, in the order of their numbers, so that offsets stay where they are. */
export function samplingMarkets(catalog: Catalog): readonly Market[] {
  const eligible = [...catalog.markets()].filter(
    (market) => market.rewardsDailyMicro > 0 && acceptsOrders(market),
  );
  return eligible.sort((left, right) => left.market - right.market);
}

/** Both variants of the specification in one: no key of theirs collides; mirrors are left out as there are none. */
export function samplingMarket(catalog: Catalog, market: Market, quotes: Quotes): SamplingMarket {
  return {
    ...words(market),
    ...rules(market),
    ...eventPart(catalog, market),
    rewards: {
      rates: [
        { asset_address: rewardAsset, rewards_daily_rate: unitsOf(market.rewardsDailyMicro) },
      ],
      min_size: unitsOf(market.rewardsMinSizeMicro),
      max_spread: market.rewardsMaxSpread / pricePerCent,
    },
    tokens: ([0, 1] as const).map((outcome) => ({
      token_id: market.tokens[outcome],
      outcome: market.outcomes[outcome],
      price: unitsOf(priceOfMicro(market, outcome, quotes)),
      winner: payoutOf(market, outcome) === priceOne,
    })),
    assets_ids: [...market.tokens],
    outcomes: [...market.outcomes],
  };
}

function words(market: Market) {
  return {
    condition_id: market.conditionId,
    question_id: market.questionId,
    question: market.question,
    description: market.description,
    market_slug: market.slug,
    slug: market.slug,
    market_id: market.market,
    status: statusOf(market),
    creator: market.creator === '' ? null : market.creator,
    icon: market.icon,
    image: market.image,
    end_date_iso: isoTime(market.endDateMs),
    accepting_order_timestamp: isoTime(market.startDateMs),
    game_start_time: null,
    fpmm: '',
  };
}

function rules(market: Market) {
  return {
    enable_order_book: true,
    active: market.active,
    closed: market.closed,
    archived: market.archived,
    accepting_orders: acceptsOrders(market),
    minimum_order_size: market.minSizeMicro / microPerUnit,
    minimum_tick_size: market.tick / priceOne,
    seconds_delay: 0,
    maker_base_fee: 0,
    taker_base_fee: market.feeRateBps,
    notifications_enabled: true,
    neg_risk: market.negRisk,
    neg_risk_market_id: market.negRiskMarketId,
    neg_risk_request_id: '',
    is_50_50_outcome: false,
    itode: false,
    taker_order_delay_ms: 0,
    order_age_seconds: 0,
    screening_check_enabled: false,
  };
}

function eventPart(catalog: Catalog, market: Market) {
  const event = catalog.event(market.eventId);
  const { id = market.eventId, slug = '', title = '', ticker = '', description = '' } = event ?? {};
  return {
    event: { id, slug, title, ticker, description },
    tags: (event?.tagIds ?? []).flatMap((tagId) => catalog.tag(tagId)?.label ?? []),
    raw_metadata: event === undefined ? {} : metadataOf(event),
  };
}

function statusOf(market: Market): string {
  if (market.payout0 >= 0 || market.mode === 'RESOLVED') return 'resolved';
  if (market.closed) return 'closed';
  return market.mode === 'HALTED' || market.mode === 'CANCEL_ONLY' ? 'paused' : 'active';
}
