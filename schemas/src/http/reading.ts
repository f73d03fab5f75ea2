import { type Static, Type } from 'typebox';
import {
  dateTime,
  decimal,
  flag,
  number,
  ownPageOf,
  seconds,
  secondsText,
  buySell as side,
  text,
} from './forms.ts';

/** Responses of query-api (specification, "Resources and their fields"; conventions.md parts 3, 5 and 6). */
const textArray = Type.Array(Type.String());

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

export const PriceResponse = Type.Object({ price: decimal });
export const PricesResponse = Type.Record(
  Type.String(),
  Type.Object({ BUY: Type.Optional(decimal), SELL: Type.Optional(decimal) }),
);
export const MidpointResponse = Type.Object({ mid: decimal });
export const SpreadResponse = Type.Object({ spread: decimal });
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

export const CandlesResponse = Type.Object({
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
export type CandlesResponse = Static<typeof CandlesResponse>;

export const TickSizeResponse = Type.Object({ minimum_tick_size: number });
export const NegRiskResponse = Type.Object({ neg_risk: flag });
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
    nextRate: Type.Optional(
      Type.Number({
        description: 'The higher rate from `nextRateAt` on; absent without a notice.',
      }),
    ),
    nextRateAt: Type.Optional(dateTime),
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
  code: Type.Union([text, Type.Null()], {
    description: 'Why an order that was delayed or held was refused at the end; else null.',
  }),
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

export const TradePage = ownPageOf(Trade);
export type TradePage = Static<typeof TradePage>;

/** Error bodies of the families clob and data. */
export const ErrorResponse = Type.Object({ error: Type.String({ minLength: 1 }) });
/** Error bodies of the family gamma. */
export const TypedErrorResponse = Type.Object({
  type: Type.String({ minLength: 1 }),
  error: Type.String({ minLength: 1 }),
});
