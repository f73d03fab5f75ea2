import { type Static, Type } from 'typebox';
import {
  dateTime,
  decimal,
  flag,
  number,
  orNull,
  pageOf,
  seconds,
  secondsText,
  buySell as side,
  text,
} from './forms.ts';

/** Answers of the read door (specification, "Resources and their fields"; conventions.md 1.3 to 1.6 and part 6). */
const textArray = Type.Array(Type.String());
const encodedArray = Type.String({ pattern: '^\\[.*\\]$', description: 'A JSON array as text.' });

/** POST /books, /prices, /last-trades-prices take at most this many tokens. */
export const tokensPerRequestMax = 500;
/** POST /batch-prices-history takes 1 to this many. */
export const historiesPerRequestMax = 20;
export const BookLevel = Type.Object({ price: decimal, size: decimal });
export const BookSnapshot = Type.Object({
  market: text,
  asset_id: text,
  timestamp: Type.String({ pattern: '^[0-9]+$', description: 'Unix milliseconds.' }),
  hash: Type.String({ pattern: '^[0-9a-f]{40}$' }),
  bids: Type.Array(BookLevel, { description: 'Best last.' }),
  asks: Type.Array(BookLevel, { description: 'Best last.' }),
  min_order_size: decimal,
  tick_size: decimal,
  neg_risk: flag,
  last_trade_price: Type.Union([decimal, Type.Literal('')]),
});
export type BookSnapshot = Static<typeof BookSnapshot>;

export const PriceAnswer = Type.Object({ price: decimal });
export const PricesAnswer = Type.Record(
  Type.String(),
  Type.Object({ BUY: Type.Optional(decimal), SELL: Type.Optional(decimal) }),
);
export const MidpointAnswer = Type.Object({ mid: decimal });
export const SpreadAnswer = Type.Object({ spread: decimal });
/** Midpoints or spreads by token id. */
export const DecimalsByToken = Type.Record(Type.String(), decimal);
export const LastTradePrice = Type.Object({
  price: decimal,
  side: Type.Union([Type.Literal('BUY'), Type.Literal('SELL'), Type.Literal('')]),
});
export type LastTradePrice = Static<typeof LastTradePrice>;
export const LastTradesPrices = Type.Array(
  Type.Object({ token_id: text, price: decimal, side: text }),
);

export const HistoryPoint = Type.Object({
  t: Type.Integer({ minimum: 0, description: 'Start of the bucket, Unix seconds.' }),
  p: Type.Number({ minimum: 0, maximum: 1, description: 'Last midpoint of the bucket.' }),
});
export type HistoryPoint = Static<typeof HistoryPoint>;
export const PricesHistory = Type.Object({ history: Type.Array(HistoryPoint) });
export const BatchPricesHistory = Type.Object({
  history: Type.Record(Type.String(), Type.Array(HistoryPoint)),
});

/** GET /candles answers at most this many. */
export const candlesPerRequestMax = 1_000;

export const CandlesAnswer = Type.Object({
  candles: Type.Array(
    Type.Object({
      t: Type.Integer({ minimum: 0, description: 'Start of the bucket, Unix seconds.' }),
      open: decimal,
      high: decimal,
      low: decimal,
      close: decimal,
      volume: decimal,
      notional: decimal,
      vwap: decimal,
      count: Type.Integer({ minimum: 1, description: 'Fills.' }),
    }),
  ),
});
export type CandlesAnswer = Static<typeof CandlesAnswer>;

export const TickSizeAnswer = Type.Object({ minimum_tick_size: number });
export const NegRiskAnswer = Type.Object({ neg_risk: flag });
export const FeeRate = Type.Object({
  base_fee: number,
  fd: Type.Object({ r: number, e: number, to: flag }),
  fee_schedule: Type.Object({
    rate: number,
    exponent: number,
    takerOnly: flag,
    rebateRate: number,
    category: text,
    version: number,
    source: text,
  }),
});
export type FeeRate = Static<typeof FeeRate>;

export const Position = Type.Object({
  proxyWallet: text,
  asset: text,
  conditionId: text,
  size: number,
  avgPrice: number,
  initialValue: number,
  currentValue: number,
  cashPnl: number,
  percentPnl: number,
  totalBought: number,
  realizedPnl: number,
  percentRealizedPnl: number,
  curPrice: number,
  redeemable: flag,
  mergeable: flag,
  negativeRisk: flag,
  title: text,
  slug: text,
  icon: text,
  eventSlug: text,
  outcome: text,
  outcomeIndex: Type.Integer(),
  oppositeOutcome: text,
  oppositeAsset: text,
  timestamp: seconds,
  endDate: dateTime,
});
export type Position = Static<typeof Position>;

export const Holder = Type.Object({
  proxyWallet: text,
  bio: text,
  asset: text,
  pseudonym: text,
  amount: number,
  displayUsernamePublic: flag,
  outcomeIndex: Type.Integer(),
  name: text,
  profileImage: text,
  profileImageOptimized: text,
});
export const HolderGroup = Type.Object({ token: text, holders: Type.Array(Holder) });
export type HolderGroup = Static<typeof HolderGroup>;

const ownerId = Type.Union([Type.String(), Type.Null()], {
  description: 'API key of the owner; null for callers who did not prove to be it.',
});
/** How an order ended, in one word (order-lifecycle.md); null while it has not. */
const ending = {
  reason: Type.Union([text, Type.Null()]),
  ended_at: Type.Union([dateTime, Type.Null()]),
};
export const StoredOrder = Type.Object({
  ...ending,
  order: Type.Object({
    ...ending,
    associateTrades: textArray,
    id: text,
    status: text,
    market: text,
    originalSize: decimal,
    outcome: text,
    makerAddress: text,
    owner: ownerId,
    price: decimal,
    side: text,
    sizeMatched: decimal,
    assetId: text,
    expiration: Type.String({ pattern: '^[0-9]+$', description: 'Unix seconds; "0" when none.' }),
    order_type: text,
    createdAt: dateTime,
  }),
  id: text,
  status: text,
  owner: ownerId,
  maker_address: text,
  market: text,
  asset_id: text,
  side: text,
  original_size: decimal,
  size_matched: decimal,
  price: decimal,
  associate_trades: textArray,
  outcome: text,
  created_at: seconds,
  expiration: text,
  order_type: text,
});
export type StoredOrder = Static<typeof StoredOrder>;

const trader = Type.Union([Type.Literal('TAKER'), Type.Literal('MAKER')]);
export const Trade = Type.Object({
  id: text,
  taker_order_id: text,
  market: text,
  asset_id: text,
  side,
  size: decimal,
  fee_rate_bps: text,
  price: decimal,
  status: Type.Literal('CONFIRMED'),
  match_time: secondsText,
  last_update: secondsText,
  outcome: text,
  bucket_index: Type.Integer(),
  owner: text,
  maker_address: text,
  maker_orders: Type.Array(
    Type.Object({
      order_id: text,
      owner: text,
      maker_address: text,
      matched_amount: decimal,
      price: decimal,
      fee_rate_bps: text,
      asset_id: text,
      outcome: text,
      side,
    }),
  ),
  transaction_hash: Type.String({ pattern: '^0x[0-9a-f]{64}$' }),
  trader_side: trader,
  type: trader,
});
export type Trade = Static<typeof Trade>;

export const TradePage = pageOf(Trade);
export type TradePage = Static<typeof TradePage>;

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
/** Listed by the specification, so there at the root alone (conventions.md, Dialects). */
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
};
export const EventMarket = Type.Object(eventMarketFields);

/** What markets carry besides under the mount `/gamma` (conventions.md, Dialects). */
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

/** Error bodies of the families clob and data. */
export const ErrorAnswer = Type.Object({ error: Type.String({ minLength: 1 }) });
/** Error bodies of the family gamma. */
export const TypedErrorAnswer = Type.Object({
  type: Type.String({ minLength: 1 }),
  error: Type.String({ minLength: 1 }),
});
