import { payoutOf, priceOfMicro, type Quotes, unitsOf } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import { stateBits } from '@pm/domain/markets/catalog-tables';
import type { Market } from '@pm/domain/markets/market';
import { acceptsOrders, feeRateResponse } from '@pm/domain/markets/market';
import { isoTime } from '@pm/domain/markets/wire-market';
import type { SamplingMarket } from '@pm/schemas/http/catalog';
import { microPerUnit, priceOne } from '@pm/schemas/money';
import { metadataOf } from './wire-event.ts';

/** Markets of a page of the lists below. */
export const clobPageSize = 500;

/** Rewards are paid in this token: bridged USDC on Polygon, the collateral of the family. */
export const rewardAsset = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';
/** 1/10000 USDC in a cent. */
export const pricePerCent = 100;
const msPerSecond = 1_000;
/** An order earns rewards from the moment it rests (`isScoring`): there is no age that it has to reach. */
const orderAgeSeconds = 0;

/**
 * Markets in the order of their numbers, so that offsets stay where they are: all of them, or those that earn liquidity
 * rewards now. One more than a page, when there is one, says that there is another page.
 */
export function clobMarkets(
  catalog: Catalog,
  { isSampling, offset }: { readonly isSampling: boolean; readonly offset: number },
): readonly Market[] {
  const { sampling } = stateBits;
  const flags = isSampling ? { mask: sampling, want: sampling } : { mask: 0, want: 0 };
  const span = { order: ['id'], ascending: true, offset, limit: clobPageSize + 1 };
  return catalog.marketTable.page({ flags }, span);
}

/**
 * The root's form of a market of the order book family: what is unknown or does not exist is an empty text, of the type
 * that the specification lists, where the family has null or nothing (conventions.md 1.1).
 */
export function toTheLetter<M extends LooseMarket>(market: M) {
  return {
    ...market,
    ...('game_start_time' in market ? { game_start_time: market.game_start_time ?? '' } : {}),
    creator: market.creator ?? '',
    mirror_condition_id: '',
    tokens: market.tokens.map((token) => ({ ...token, mirror_token_id: '' })),
  };
}

interface LooseMarket {
  readonly creator: string | null;
  readonly game_start_time?: string | null;
  readonly tokens: readonly object[];
}

/** Both variants of the specification in one: no key of theirs collides; mirrors are left out as there are none. */
export function clobMarket(catalog: Catalog, market: Market, quotes: Quotes): SamplingMarket {
  return {
    ...words(market),
    ...rules(market),
    ...eventPart(catalog, market),
    ...tradingPart(market, quotes),
  };
}

/** The reduced form of /simplified-markets and /sampling-simplified-markets. */
export function simplifiedMarket(market: Market, quotes: Quotes) {
  const { active, closed, archived, negRisk } = market;
  return {
    condition_id: market.conditionId,
    creator: creatorOf(market),
    status: statusOf(market),
    question: market.question,
    slug: market.slug,
    market_id: market.market,
    neg_risk: negRisk,
    active,
    closed,
    archived,
    accepting_orders: acceptsOrders(market),
    ...tradingPart(market, quotes),
  };
}

/** Facts that clients read before a market order, with short keys (conventions.md 5.5). */
export function compactMarket(market: Market) {
  const fee = feeRateResponse(market);
  return {
    gst: null,
    r: rewardsOf(market),
    c: market.conditionId,
    creator: creatorOf(market),
    nr: market.negRisk,
    t: ([0, 1] as const).map((outcome) => ({
      t: market.tokens[outcome],
      o: market.outcomes[outcome],
    })),
    mts: market.tick / priceOne,
    mos: market.minSizeMicro / microPerUnit,
    fd: fee.fd,
    mbf: 0,
    tbf: market.feeRateBps,
    rfqe: false,
    ...(market.takerDelayMs > 0 ? { itode: true } : {}),
    ibce: false,
    oas: orderAgeSeconds,
  };
}

/** Which condition a token belongs to, and its pair. */
export function marketByToken(market: Market) {
  const [primary, secondary] = market.tokens;
  return {
    condition_id: market.conditionId,
    creator: creatorOf(market),
    primary_token_id: primary,
    secondary_token_id: secondary,
  };
}

function tradingPart(market: Market, quotes: Quotes) {
  return {
    rewards: rewardsOf(market),
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

/** No rates when there are no rewards. */
function rewardsOf(market: Market) {
  const rate = {
    asset_address: rewardAsset,
    rewards_daily_rate: unitsOf(market.rewardsDailyMicro),
  };
  return {
    rates: market.rewardsDailyMicro > 0 ? [rate] : [],
    min_size: unitsOf(market.rewardsMinSizeMicro),
    max_spread: market.rewardsMaxSpread / pricePerCent,
  };
}

function creatorOf({ creator }: Market): string | null {
  return creator === '' ? null : creator.toLowerCase();
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
    creator: creatorOf(market),
    icon: market.icon,
    image: market.image,
    end_date_iso: isoTime(market.endDateMs),
    // From its listing on a market takes what its mode allows; its start is announced only (operator.md).
    accepting_order_timestamp: isoTime(market.createdAtMs),
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
    seconds_delay: Math.floor(market.takerDelayMs / msPerSecond),
    maker_base_fee: 0,
    taker_base_fee: market.feeRateBps,
    notifications_enabled: true,
    neg_risk: market.negRisk,
    neg_risk_market_id: market.negRiskMarketId,
    neg_risk_request_id: '',
    is_50_50_outcome: market.payout0 * 2 === priceOne,
    itode: market.takerDelayMs > 0,
    taker_order_delay_ms: market.takerDelayMs,
    order_age_seconds: orderAgeSeconds,
    screening_check_enabled: false,
  };
}

function eventPart(catalog: Catalog, market: Market) {
  const event = catalog.event(market.eventId);
  const { id = market.eventId, slug = '', title = '', ticker = '', description = '' } = event ?? {};
  return {
    event: { id, slug, title, ticker, description },
    tags: (event?.tagIds ?? []).flatMap((tagId) => catalog.tag(tagId)?.label ?? []),
    raw_metadata: metadataOf(market),
  };
}

function statusOf(market: Market): string {
  if (market.payout0 >= 0 || market.mode === 'RESOLVED') return 'resolved';
  if (market.closed) return 'closed';
  return acceptsOrders(market) ? 'active' : 'paused';
}
