import { type Static, Type } from 'typebox';
import { decimal, ownPageOf, text } from './forms.ts';

/** Responses of query-api about the caller's own wallet (conventions.md 3.12 and 4.1). */
const baseUnits = Type.String({ pattern: '^[0-9]+$', description: 'Millionths, as text.' });

/** POST /data/orders and /orders-scoring take at most this many orders. */
export const orderIdsPerRequestMax = 500;

/** A row of GET /data/orders: the flat form of every published client, and its keys in camel case. */
export const OpenOrder = Type.Object({
  id: text,
  status: text,
  owner: text,
  market: text,
  side: text,
  price: decimal,
  outcome: text,
  expiration: Type.String({ pattern: '^[0-9]+$', description: 'Unix seconds; "0" when none.' }),
  order_type: text,
  maker_address: text,
  asset_id: text,
  original_size: decimal,
  size_matched: decimal,
  associate_trades: Type.Array(text),
  created_at: Type.Integer({ minimum: 0, description: 'Unix seconds.' }),
  makerAddress: text,
  assetId: text,
  originalSize: decimal,
  sizeMatched: decimal,
  associateTrades: Type.Array(text),
  createdAt: text,
});
export type OpenOrder = Static<typeof OpenOrder>;

export const OpenOrderPage = ownPageOf(OpenOrder);

export const BalanceAllowance = Type.Object({
  balance: baseUnits,
  allowances: Type.Record(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }), baseUnits),
});

export const TokenBalance = Type.Object({
  asset_id: text,
  market: text,
  outcome: text,
  outcome_index: Type.Integer({ minimum: 0, maximum: 1 }),
  size: decimal,
});
export type TokenBalance = Static<typeof TokenBalance>;

/** One wallet of GET /balances. */
export const WalletBalances = Type.Object({
  wallet: text,
  usdc: Type.Object({
    total: Type.String({ description: 'free + held.' }),
    free: Type.String({ description: 'Not bound to resting orders.' }),
    held: Type.String({ description: 'Bound to resting orders.' }),
    pending: Type.String({ description: 'Of the free part: bound to orders on their way.' }),
    available: Type.String({ description: 'free - pending: what a new order may use.' }),
  }),
  tokens: Type.Array(TokenBalance),
});
export type WalletBalances = Static<typeof WalletBalances>;
