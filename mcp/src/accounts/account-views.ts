import type { WalletBalances } from '@pm/schemas/http/private-reading';
import type { Position, StoredOrder } from '@pm/schemas/http/reading';
import type { LeaderboardEntry } from '@pm/schemas/http/reports';
import { type Static, Type } from 'typebox';
import {
  conditionId,
  decimal,
  decimalOf,
  isoTime,
  orderId,
  orNull,
  tokenId,
  userWritten,
  wallet,
} from '../server/forms.ts';
import { userText } from '../server/user-text.ts';

const titleMaxChars = 300;

export const PositionView = Type.Object({
  condition_id: conditionId,
  token_id: tokenId,
  market_title: userWritten,
  outcome: userWritten,
  size: decimal,
  average_price: decimal,
  current_price: decimal,
  current_value: decimal,
  unrealized_pnl: decimal,
  realized_pnl: decimal,
  redeemable: Type.Boolean(),
});

/** A position as `get_positions` shows it. */
export function positionView(position: Position): Static<typeof PositionView> {
  return {
    condition_id: position.conditionId,
    token_id: position.asset,
    market_title: userText(position.title, titleMaxChars),
    outcome: userText(position.outcome, titleMaxChars),
    size: decimalOf(position.size),
    average_price: decimalOf(position.avgPrice),
    current_price: decimalOf(position.curPrice),
    current_value: decimalOf(position.currentValue),
    unrealized_pnl: decimalOf(position.cashPnl),
    realized_pnl: decimalOf(position.realizedPnl),
    redeemable: position.redeemable,
  };
}

export const BalancesView = Type.Object({
  wallet,
  usdc: Type.Object({
    total: decimal,
    free: decimal,
    held: decimal,
    pending: decimal,
    available: decimal,
  }),
  tokens: Type.Array(
    Type.Object({
      token_id: tokenId,
      condition_id: conditionId,
      outcome: userWritten,
      size: decimal,
    }),
  ),
});

/** One wallet of the caller. */
export function balancesView({
  wallet,
  usdc,
  tokens,
}: WalletBalances): Static<typeof BalancesView> {
  return {
    wallet,
    usdc: {
      total: usdc.total,
      free: usdc.free,
      held: usdc.held,
      pending: usdc.pending,
      available: usdc.available,
    },
    tokens: tokens.map((token) => ({
      token_id: token.asset_id,
      condition_id: token.market,
      outcome: userText(token.outcome, titleMaxChars),
      size: token.size,
    })),
  };
}

export const RankView = Type.Object({
  rank: Type.Integer({ minimum: 1 }),
  wallet,
  name: userWritten,
  volume: decimal,
  pnl: decimal,
});

/** A row of the leaderboard. */
export function rankView(entry: LeaderboardEntry): Static<typeof RankView> {
  return {
    rank: Number(entry.rank),
    wallet: entry.proxyWallet,
    name: userText(entry.userName, titleMaxChars),
    volume: decimalOf(entry.vol),
    pnl: decimalOf(entry.pnl),
  };
}

export const OrderView = Type.Object({
  order_id: orderId,
  status: Type.String({ description: '`LIVE`, `DELAYED`, `MATCHED` or `CANCELED`.' }),
  reason: orNull(Type.String({ description: 'How it ended.' })),
  code: orNull(
    Type.String({
      description: 'The refusal that ended it: it was delayed or held, and never placed.',
    }),
  ),
  ended_at: orNull(isoTime),
  condition_id: conditionId,
  token_id: tokenId,
  outcome: userWritten,
  side: Type.String(),
  price: decimal,
  size: decimal,
  size_matched: decimal,
  order_type: Type.String(),
  expiration: orNull(isoTime),
  wallet,
  created_at: isoTime,
  trade_ids: Type.Array(Type.String()),
});

/** An order with its state. */
export function orderView(order: StoredOrder): Static<typeof OrderView> {
  const expiration = Number(order.expiration);
  return {
    order_id: order.id,
    status: order.status,
    reason: order.reason,
    code: order.code,
    ended_at: order.ended_at,
    condition_id: order.market,
    token_id: order.asset_id,
    outcome: userText(order.outcome, titleMaxChars),
    side: order.side,
    price: order.price,
    size: order.original_size,
    size_matched: order.size_matched,
    order_type: order.order_type,
    expiration: expiration > 0 ? new Date(expiration * 1000).toISOString() : null,
    wallet: order.maker_address,
    created_at: order.order.createdAt,
    trade_ids: [...order.associate_trades],
  };
}
