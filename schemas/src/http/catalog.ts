import { type Static, Type } from 'typebox';
import {
  address,
  conditionId,
  dateTime,
  decimal,
  flag,
  number,
  orNull,
  pageOf,
  sample,
  text,
} from './forms.ts';

/** Events, markets, tags and series (specification, "Resources and their fields"; conventions.md 5.5 and 5.6). */
const textArray = Type.Array(Type.String());
const encodedArray = Type.String({ pattern: '^\\[.*\\]$', description: 'A JSON array as text.' });

export const CatalogTagResponse = Type.Object({
  id: text,
  label: text,
  slug: text,
  createdAt: dateTime,
  updatedAt: dateTime,
  requiresTranslation: flag,
});

export const SeriesResponse = Type.Object({
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

/** How far the resolution of a market is. */
export const resolutionStatuses = ['proposed', 'disputed', 'resolved'] as const;
export type ResolutionStatus = (typeof resolutionStatuses)[number];

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
    Type.Enum([...resolutionStatuses], {
      description: 'Not there before the first proposal of a resolution.',
    }),
  ),
  /** When the newest proposal pays, or would have paid, unless challenged. */
  umaEndDate: Type.Optional(dateTime),
  /** Payouts of the outcomes that are proposed, while a resolution is proposed. */
  proposedOutcomePrices: Type.Optional(encodedArray),
};
export const EventMarket = Type.Object(eventMarketFields);

const day = Type.String({
  pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  description: 'A day in UTC.',
  examples: [sample.dateTime.slice(0, 10)],
});
/** When it was closed; not there while it is open. */
const closedTime = Type.Optional(dateTime);
/** Notional of the fills of the last 24 hours, 7, 30 and 365 days. */
const windowVolumes = {
  volume24hr: number,
  volume1wk: number,
  volume1mo: number,
  volume1yr: number,
};
/** Further fields of events under the mount `/gamma` (conventions.md 1.1). */
export const familyEventFields = {
  closedTime,
  volume: number,
  ...windowVolumes,
  liquidity: number,
};
const priceChange = Type.Optional(
  Type.Number({ description: 'Of outcome 0, in USDC. Not there without a price at that time.' }),
);

/** Further fields of markets under the mount `/gamma` (conventions.md 1.1). */
const tradingFields = {
  outcomePrices: encodedArray,
  orderPriceMinTickSize: number,
  orderMinSize: number,
  negRisk: flag,
  negRiskMarketID: Type.Optional(conditionId),
  acceptingOrders: flag,
  acceptingOrdersTimestamp: dateTime,
  enableOrderBook: flag,
  marketMakerAddress: text,
  category: text,
  groupItemTitle: Type.Optional(text),
  startDateIso: day,
  endDateIso: Type.Optional(day),
  closedTime,
  umaResolutionStatuses: encodedArray,
  feesEnabled: flag,
  feeSchedule: Type.Optional(
    Type.Object(
      { rate: number, exponent: number, takerOnly: flag, rebateRate: number },
      { description: 'Shares x rate x (p(1-p))^exponent. Not there without a fee.' },
    ),
  ),
  clobRewards: Type.Optional(
    Type.Array(
      Type.Object({
        id: text,
        conditionId,
        assetAddress: address,
        rewardsAmount: number,
        rewardsDailyRate: number,
        startDate: day,
      }),
    ),
  ),
  rewardsMinSize: number,
  rewardsMaxSpread: Type.Number({ description: 'In cents.' }),
  volume: decimal,
  volumeNum: number,
  ...windowVolumes,
  liquidity: decimal,
  liquidityNum: number,
  bestBid: Type.Optional(number),
  bestAsk: Type.Optional(number),
  spread: Type.Optional(number),
  lastTradePrice: Type.Optional(number),
  competitive: number,
  oneDayPriceChange: priceChange,
  oneWeekPriceChange: priceChange,
  oneMonthPriceChange: priceChange,
};
export const FamilyMarket = Type.Object({ ...eventMarketFields, ...tradingFields });

export const MarketResponse = Type.Object({
  ...eventMarketFields,
  ...mirrorFields,
  events: Type.Array(EventSummary),
});
export type MarketResponse = Static<typeof MarketResponse>;
export const FamilyMarketResponse = Type.Object({
  ...eventMarketFields,
  ...tradingFields,
  events: Type.Array(EventSummary),
});

const tags = Type.Array(CatalogTagResponse);
export const EventListItem = Type.Object({
  ...eventFields,
  tags,
  markets: Type.Array(ListedMarket),
});
export const FamilyEventListItem = Type.Object({
  ...eventFields,
  tags,
  markets: Type.Array(FamilyMarket),
  ...familyEventFields,
});
export const EventResponse = Type.Object({
  ...eventFields,
  creationDate: dateTime,
  tags,
  markets: Type.Array(EventMarket),
  series: Type.Array(SeriesResponse),
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
