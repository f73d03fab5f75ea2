import type { BookSnapshot } from '@pm/schemas/http/reading';
import type { PublicTrade } from '@pm/schemas/http/reports';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import { type Static, Type } from 'typebox';
import {
  conditionId,
  decimal,
  decimalOf,
  isoOfSeconds,
  isoTime,
  orNull,
  side,
  tokenId,
  userWritten,
  wallet,
} from '../server/forms.ts';
import { userText } from '../server/user-text.ts';

/** Points of a history that a result has; older ones are left out. */
export const historyPointsMax = 500;
const titleMaxChars = 300;

const Level = Type.Object({ price: decimal, size: decimal });

export const BookView = Type.Object({
  token_id: tokenId,
  condition_id: conditionId,
  time: isoTime,
  bids: Type.Array(Level, { description: 'Best first.' }),
  asks: Type.Array(Level, { description: 'Best first.' }),
  bid_levels: Type.Integer({ minimum: 0, description: 'Levels of the whole book.' }),
  ask_levels: Type.Integer({ minimum: 0, description: 'Levels of the whole book.' }),
  min_order_size: decimal,
  tick_size: decimal,
  neg_risk: Type.Boolean(),
  last_trade_price: orNull(decimal),
  hash: Type.String({ description: 'Of the whole book, as GET /book has it.' }),
});
type BookView = Static<typeof BookView>;

type AnyBook = Pick<
  BookSnapshot,
  | 'market'
  | 'asset_id'
  | 'timestamp'
  | 'hash'
  | 'min_order_size'
  | 'tick_size'
  | 'neg_risk'
  | 'last_trade_price'
> & {
  readonly bids: readonly { readonly price: string; readonly size: string }[];
  readonly asks: readonly { readonly price: string; readonly size: string }[];
};

/** The `depth` best levels of each side, best first; the exchange has the best last. */
export function bookView(book: AnyBook, depth: number): BookView {
  const best = (levels: AnyBook['bids']) =>
    levels
      .slice(-depth)
      .reverse()
      .map(({ price, size }) => ({ price, size }));
  return {
    token_id: book.asset_id,
    condition_id: book.market,
    time: new Date(Number(book.timestamp)).toISOString(),
    bids: best(book.bids),
    asks: best(book.asks),
    bid_levels: book.bids.length,
    ask_levels: book.asks.length,
    min_order_size: book.min_order_size,
    tick_size: book.tick_size,
    neg_risk: book.neg_risk,
    last_trade_price: book.last_trade_price === '' ? null : book.last_trade_price,
    hash: book.hash,
  };
}

export const HistoryView = Type.Object({
  token_id: tokenId,
  points: Type.Array(Type.Object({ time: isoTime, price: decimal }), {
    description: 'Oldest first; the last midpoint of each bucket.',
  }),
  older_points: Type.Integer({ minimum: 0, description: 'Older points that are left out.' }),
});

/** The newest points of a history. */
export function historyView(
  tokenId: string,
  { history }: ResponseOf<'getPricesHistory'>,
): Static<typeof HistoryView> {
  return {
    token_id: tokenId,
    points: history
      .slice(-historyPointsMax)
      .map(({ t, p }) => ({ time: isoOfSeconds(t), price: decimalOf(p) })),
    older_points: Math.max(0, history.length - historyPointsMax),
  };
}

export const TradeView = Type.Object({
  time: isoTime,
  condition_id: conditionId,
  token_id: tokenId,
  market_title: userWritten,
  outcome: userWritten,
  side,
  price: decimal,
  size: decimal,
  usdc: decimal,
  wallet,
  wallet_name: userWritten,
  transaction_hash: Type.String(),
});

/** A trade of the public ledger. */
export function tradeView(trade: PublicTrade): Static<typeof TradeView> {
  return {
    time: isoOfSeconds(trade.timestamp),
    condition_id: trade.conditionId,
    token_id: trade.asset,
    market_title: userText(trade.title, titleMaxChars),
    outcome: userText(trade.outcome, titleMaxChars),
    side: trade.side,
    price: decimalOf(trade.price),
    size: decimalOf(trade.size),
    usdc: decimalOf(trade.usdcSize),
    wallet: trade.proxyWallet,
    wallet_name: userText(trade.name, titleMaxChars),
    transaction_hash: trade.transactionHash,
  };
}
