import { type Static, Type } from 'typebox';
import { dateTime, decimal, number, seconds, secondsText, buySell as side, text } from './forms.ts';

/** Answers of public reports (specification, "Builder trade"; conventions.md 6.5 and 6.1). */
const hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' });
const role = Type.Union([Type.Literal('TAKER'), Type.Literal('MAKER')]);

const who = {
  proxyWallet: text,
  name: text,
  pseudonym: text,
  bio: text,
  profileImage: text,
  profileImageOptimized: text,
};
const words = { title: text, slug: text, icon: text, eventSlug: text };

export const PublicTrade = Type.Object({
  ...who,
  side,
  asset: text,
  conditionId: text,
  size: number,
  price: number,
  usdcSize: number,
  timestamp: seconds,
  transactionHash: hash,
  ...words,
  outcome: text,
  outcomeIndex: Type.Integer(),
});
export type PublicTrade = Static<typeof PublicTrade>;

export const Activity = Type.Object({
  ...who,
  timestamp: seconds,
  conditionId: text,
  type: text,
  size: number,
  usdcSize: number,
  transactionHash: hash,
  price: number,
  asset: text,
  side: Type.Enum(['BUY', 'SELL', '']),
  outcomeIndex: Type.Integer(),
  outcome: text,
  ...words,
});
export type Activity = Static<typeof Activity>;

export const ClosedPosition = Type.Object({
  proxyWallet: text,
  asset: text,
  conditionId: text,
  avgPrice: number,
  totalBought: number,
  realizedPnl: number,
  curPrice: number,
  timestamp: seconds,
  ...words,
  outcome: text,
  outcomeIndex: Type.Integer(),
  oppositeOutcome: text,
  oppositeAsset: text,
  endDate: dateTime,
});
export type ClosedPosition = Static<typeof ClosedPosition>;

export const MarketPosition = Type.Object({
  proxyWallet: text,
  name: text,
  profileImage: text,
  verified: Type.Boolean(),
  asset: text,
  conditionId: text,
  avgPrice: number,
  size: number,
  currPrice: number,
  currentValue: number,
  cashPnl: number,
  totalBought: number,
  realizedPnl: number,
  totalPnl: number,
  outcome: text,
  outcomeIndex: Type.Integer(),
});
export type MarketPosition = Static<typeof MarketPosition>;

const makerOrder = Type.Object({
  order_id: text,
  maker_address: text,
  owner: text,
  matched_amount: decimal,
  fee_rate_bps: text,
  price: decimal,
  asset_id: text,
  outcome: text,
  side: text,
});

/** Both published shapes at once. */
export const BuilderTrade = Type.Object({
  id: text,
  taker_order_id: text,
  market: text,
  asset_id: text,
  side,
  size: decimal,
  fee_rate_bps: text,
  price: decimal,
  status: text,
  outcome: text,
  maker_address: text,
  owner: text,
  transaction_hash: hash,
  match_time: dateTime,
  last_update: dateTime,
  type: role,
  bucket_index: Type.Integer(),
  maker_orders: Type.Array(makerOrder),
  tradeType: role,
  takerOrderHash: text,
  builder: text,
  assetId: text,
  sizeUsdc: decimal,
  outcomeIndex: Type.Integer(),
  maker: text,
  transactionHash: hash,
  matchTime: secondsText,
  bucketIndex: Type.Integer(),
  fee: decimal,
  feeUsdc: decimal,
  createdAt: dateTime,
  updatedAt: dateTime,
});
export type BuilderTrade = Static<typeof BuilderTrade>;

export const LeaderboardEntry = Type.Object({
  rank: Type.String({ pattern: '^[0-9]+$' }),
  proxyWallet: text,
  userName: text,
  vol: number,
  pnl: number,
  profileImage: text,
  xUsername: Type.Union([text, Type.Null()]),
  verifiedBadge: Type.Boolean(),
});
export type LeaderboardEntry = Static<typeof LeaderboardEntry>;
