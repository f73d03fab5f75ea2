import { type Static, Type } from 'typebox';
import { dateTime, decimal, flag, number, orNull, pageOf, text } from './forms.ts';

/** Events, markets, tags and series (specification, "Resources and their fields"; conventions.md 5.5 and 5.6). */
const textArray = Type.Array(Type.String());
const encodedArray = Type.String({ pattern: '^\\[.*\\]$', description: 'A JSON array as text.' });

export const CatalogTagAnswer = Type.Object({
  id: text,
  label: text,
  slug: text,
  createdAt: dateTime,
  updatedAt: dateTime,
  requiresTranslation: flag,
});

export const SeriesAnswer = Type.Object({
  id: text,
  ticker: text,
  slug: text,
  title: text,
  seriesType: text,
  recurrence: text,
  image: text,
  icon: text,
  active: flag,
  closed: flag,
  archived: flag,
  createdAt: dateTime,
  updatedAt: dateTime,
});

const eventFields = {
  id: text,
  ticker: text,
  slug: text,
  title: text,
  description: text,
  resolutionSource: text,
  startDate: dateTime,
  endDate: dateTime,
  image: text,
  icon: text,
  active: flag,
  closed: flag,
  archived: flag,
  createdAt: dateTime,
  updatedAt: dateTime,
};
export const EventSummary = Type.Object({ ...eventFields, creationDate: dateTime });

const listedMarketFields = {
  id: text,
  question: text,
  conditionId: text,
  clobTokenIds: encodedArray,
};
/** Listed by the specification, so there at the root alone (conventions.md 1.1). */
const mirrorFields = { mirrorConditionId: text, mirrorClobTokenIds: encodedArray };
export const ListedMarket = Type.Object({ ...listedMarketFields, ...mirrorFields });

const eventMarketFields = {
  ...listedMarketFields,
  slug: text,
  resolutionSource: text,
  startDate: dateTime,
  endDate: dateTime,
  image: text,
  icon: text,
  description: text,
  outcomes: encodedArray,
  active: flag,
  closed: flag,
  archived: flag,
  createdAt: dateTime,
  updatedAt: dateTime,
  questionID: text,
  umaResolutionStatus: Type.Optional(
    Type.Enum(['proposed', 'disputed', 'resolved'], {
      description: 'Not there before the first proposal of a resolution.',
    }),
  ),
  /** When the newest proposal pays, or would have paid, unless challenged. */
  umaEndDate: Type.Optional(dateTime),
  /** What the outcomes are to pay, while a resolution is proposed. */
  proposedOutcomePrices: Type.Optional(encodedArray),
};
export const EventMarket = Type.Object(eventMarketFields);

/** What markets carry besides under the mount `/gamma` (conventions.md 1.1). */
const tradingFields = {
  outcomePrices: encodedArray,
  orderPriceMinTickSize: number,
  orderMinSize: number,
  negRisk: flag,
  acceptingOrders: flag,
  enableOrderBook: flag,
  marketMakerAddress: text,
  category: text,
  volume: decimal,
  volumeNum: number,
  volume24hr: number,
  liquidity: decimal,
  liquidityNum: number,
  bestBid: Type.Optional(number),
  bestAsk: Type.Optional(number),
  spread: Type.Optional(number),
  lastTradePrice: Type.Optional(number),
};
export const FamilyMarket = Type.Object({ ...eventMarketFields, ...tradingFields });

export const MarketAnswer = Type.Object({
  ...eventMarketFields,
  ...mirrorFields,
  events: Type.Array(EventSummary),
});
export type MarketAnswer = Static<typeof MarketAnswer>;
export const FamilyMarketAnswer = Type.Object({
  ...eventMarketFields,
  ...tradingFields,
  events: Type.Array(EventSummary),
});

const tags = Type.Array(CatalogTagAnswer);
export const EventListItem = Type.Object({
  ...eventFields,
  tags,
  markets: Type.Array(ListedMarket),
});
export const FamilyEventListItem = Type.Object({
  ...eventFields,
  tags,
  markets: Type.Array(FamilyMarket),
  volume: number,
  volume24hr: number,
  liquidity: number,
});
export const EventAnswer = Type.Object({
  ...eventFields,
  creationDate: dateTime,
  tags,
  markets: Type.Array(EventMarket),
  series: Type.Array(SeriesAnswer),
  eventMetadata: Type.Object({}),
});

export const SamplingMarket = Type.Object({
  enable_order_book: flag,
  active: flag,
  closed: flag,
  archived: flag,
  accepting_orders: flag,
  accepting_order_timestamp: orNull(dateTime),
  minimum_order_size: number,
  minimum_tick_size: number,
  condition_id: text,
  question_id: text,
  question: text,
  description: text,
  market_slug: text,
  slug: text,
  status: text,
  market_id: number,
  creator: orNull(text),
  end_date_iso: orNull(dateTime),
  game_start_time: orNull(text),
  seconds_delay: number,
  fpmm: text,
  maker_base_fee: number,
  taker_base_fee: number,
  notifications_enabled: flag,
  neg_risk: flag,
  neg_risk_market_id: text,
  neg_risk_request_id: text,
  icon: text,
  image: text,
  rewards: Type.Object({
    rates: Type.Array(Type.Object({ asset_address: text, rewards_daily_rate: number })),
    min_size: number,
    max_spread: number,
  }),
  is_50_50_outcome: flag,
  tokens: Type.Array(Type.Object({ token_id: text, outcome: text, price: number, winner: flag })),
  tags: textArray,
  assets_ids: textArray,
  outcomes: textArray,
  event: Type.Object({ id: text, slug: text, title: text, ticker: text, description: text }),
  raw_metadata: Type.Object({}),
  itode: flag,
  taker_order_delay_ms: number,
  order_age_seconds: number,
  screening_check_enabled: flag,
});
export type SamplingMarket = Static<typeof SamplingMarket>;
export const SamplingPage = pageOf(SamplingMarket);
