import type { MountedResponseOf } from '@pm/client';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import { type Static, Type } from 'typebox';
import {
  conditionId,
  decimal,
  decimalOf,
  isoTime,
  orNull,
  tokenId,
  userWritten,
} from '../server/forms.ts';
import { userText } from '../server/user-text.ts';

/** Markets of one event that a search shows. */
const marketsPerEventMax = 20;
/** Characters of a title, a question or a name. */
const titleMaxChars = 300;

const Outcome = Type.Object({
  token_id: tokenId,
  outcome: userWritten,
  price: decimal,
  winner: Type.Boolean(),
});

export const MarketView = Type.Object({
  condition_id: conditionId,
  slug: Type.String(),
  question: userWritten,
  description: userWritten,
  event: Type.Object({ id: Type.String(), slug: Type.String(), title: userWritten }),
  status: Type.String({ description: '`active`, `paused`, `closed` or `resolved`.' }),
  accepting_orders: Type.Boolean(),
  end_date: orNull(isoTime),
  neg_risk: Type.Boolean(),
  min_order_size: decimal,
  tick_size: decimal,
  taker_fee_rate_bps: Type.Integer({ description: 'Fee = shares × rate × p × (1 − p).' }),
  taker_delay_ms: Type.Integer(),
  outcomes: Type.Array(Outcome),
});
export type MarketView = Static<typeof MarketView>;

const FoundMarket = Type.Object({
  condition_id: conditionId,
  slug: Type.String(),
  question: userWritten,
  accepting_orders: Type.Boolean(),
  closed: Type.Boolean(),
  volume: decimal,
  liquidity: decimal,
  best_bid: orNull(decimal),
  best_ask: orNull(decimal),
  outcomes: Type.Array(Type.Object({ token_id: tokenId, outcome: userWritten, price: decimal })),
});

export const FoundEvent = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  title: userWritten,
  end_date: isoTime,
  volume: decimal,
  markets: Type.Array(FoundMarket),
  more_markets: Type.Integer({ minimum: 0, description: 'Markets that are not shown.' }),
});
type FoundEvent = Static<typeof FoundEvent>;

type BookMarket = Extract<ResponseOf<'getMarket'>, { readonly condition_id: string }>;

/** Whether `GET /markets/{id}` responded in the form of the order book. */
export function isBookMarket(market: ResponseOf<'getMarket'>): market is BookMarket {
  return 'condition_id' in market;
}

/** A market as `get_market` shows it. */
export function marketView(market: BookMarket): MarketView {
  const { event } = market;
  return {
    condition_id: market.condition_id,
    slug: market.slug,
    question: userText(market.question, titleMaxChars),
    description: userText(market.description),
    event: { id: event.id, slug: event.slug, title: userText(event.title, titleMaxChars) },
    status: market.status,
    accepting_orders: market.accepting_orders,
    end_date: market.end_date_iso,
    neg_risk: market.neg_risk,
    min_order_size: decimalOf(market.minimum_order_size),
    tick_size: decimalOf(market.minimum_tick_size),
    taker_fee_rate_bps: market.taker_base_fee,
    taker_delay_ms: market.taker_order_delay_ms,
    outcomes: market.tokens.map(({ token_id, outcome, price, winner }) => ({
      token_id,
      outcome: userText(outcome, titleMaxChars),
      price: decimalOf(price),
      winner,
    })),
  };
}

type ListedEvent = MountedResponseOf<'search'>['events'][number];

/** An event of a search with its first markets. */
export function foundEvent(event: ListedEvent): FoundEvent {
  return {
    id: event.id,
    slug: event.slug,
    title: userText(event.title, titleMaxChars),
    end_date: event.endDate,
    volume: decimalOf(event.volume),
    markets: event.markets.slice(0, marketsPerEventMax).map(foundMarket),
    more_markets: Math.max(0, event.markets.length - marketsPerEventMax),
  };
}

function foundMarket(market: ListedEvent['markets'][number]): FoundEvent['markets'][number] {
  const tokens = textsIn(market.clobTokenIds);
  const outcomes = textsIn(market.outcomes);
  const prices = textsIn(market.outcomePrices);
  return {
    condition_id: market.conditionId,
    slug: market.slug,
    question: userText(market.question, titleMaxChars),
    accepting_orders: market.acceptingOrders,
    closed: market.closed,
    volume: market.volume,
    liquidity: market.liquidity,
    best_bid: market.bestBid === undefined ? null : decimalOf(market.bestBid),
    best_ask: market.bestAsk === undefined ? null : decimalOf(market.bestAsk),
    outcomes: tokens.map((token_id, index) => ({
      token_id,
      outcome: userText(outcomes[index] ?? '', titleMaxChars),
      price: prices[index] ?? '0',
    })),
  };
}

/** A JSON array of texts, as the family sends lists. */
function textsIn(encoded: string): readonly string[] {
  const parsed: unknown = JSON.parse(encoded);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}
