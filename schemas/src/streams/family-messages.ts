import { type Static, Type } from 'typebox';
import { Comment } from '../http/comment-responses.ts';
import { buySell, conditionId, decimal, orNull, tokenId, uuid } from '../http/forms.ts';
import { OpenOrder } from '../http/private-reading.ts';
import { BookSnapshot, Trade } from '../http/reading.ts';
import { Activity } from '../http/reports.ts';
import type { FamilyStream } from './channels.ts';
import { unixMs } from './server-frames.ts';

/** Messages of `/ws/market`, `/ws/user` and `/ws/live-data` (conventions.md part 8). */
const unixMsText = Type.String({
  pattern: '^[0-9]+$',
  description: 'Clock of the partition, Unix milliseconds.',
  examples: ['1780315200123'],
});
const secondsText = Type.String({
  pattern: '^[0-9]+$',
  description: 'Unix seconds.',
  examples: ['1780315200'],
});

/** Fields that a connection adds to each message. */
const numbered = {
  sequence: Type.Integer({
    minimum: 1,
    description: 'Counts the messages of the connection; a gap means that some are missing.',
  }),
  stream_id: Type.String({ description: 'This connection.', examples: ['s-9f2b6d4c81e7a053'] }),
  server_ts_ms: unixMs,
};

const ofMarket = { market: conditionId, timestamp: unixMsText };
const ofToken = { ...ofMarket, asset_id: tokenId };

export const FamilyBook = Type.Object(
  { event_type: Type.Literal('book'), ...BookSnapshot.properties, ...numbered },
  { description: 'The body of GET /book: at the subscription, and after each record with trades.' },
);

export const FamilyPriceChange = Type.Object(
  {
    event_type: Type.Literal('price_change'),
    ...ofMarket,
    price_changes: Type.Array(
      Type.Object({
        asset_id: tokenId,
        price: decimal,
        size: Type.String({
          description: 'The new total; "0" removes the level.',
          examples: ['5'],
        }),
        side: buySell,
        hash: Type.String({
          pattern: '^[0-9a-f]{40}$',
          description: 'That of GET /book after it.',
        }),
        best_bid: decimal,
        best_ask: decimal,
      }),
      { minItems: 2, description: 'Each level as both tokens show it.' },
    ),
    ...numbered,
  },
  { description: 'Levels that one record changed.' },
);

export const FamilyLastTrade = Type.Object(
  {
    event_type: Type.Literal('last_trade_price'),
    ...ofToken,
    price: decimal,
    size: decimal,
    side: buySell,
    fee_rate_bps: Type.String({ pattern: '^[0-9]+$', examples: ['315'] }),
    transaction_hash: Trade.properties.transaction_hash,
    ...numbered,
  },
  { description: 'A fill, for each token that it trades.' },
);

export const FamilyTickSize = Type.Object(
  {
    event_type: Type.Literal('tick_size_change'),
    ...ofToken,
    old_tick_size: decimal,
    new_tick_size: decimal,
    ...numbered,
  },
  { description: 'The tick of a market has changed.' },
);

export const FamilyBestBidAsk = Type.Object(
  {
    event_type: Type.Literal('best_bid_ask'),
    ...ofToken,
    best_bid: decimal,
    best_ask: decimal,
    spread: decimal,
    ...numbered,
  },
  { description: 'With custom features: a best price has changed; an empty side is 0 or 1.' },
);

const words = {
  id: Type.String({ examples: ['1'] }),
  question: Type.String(),
  slug: Type.String(),
  description: Type.String(),
  assets_ids: Type.Array(tokenId, { minItems: 2, maxItems: 2 }),
  outcomes: Type.Array(Type.String({ examples: ['Yes'] }), { minItems: 2, maxItems: 2 }),
  event_message: Type.Object({
    id: Type.String({ examples: ['1'] }),
    ticker: Type.String(),
    slug: Type.String({ examples: ['rain-in-lisbon'] }),
    title: Type.String(),
    description: Type.String(),
  }),
};

export const FamilyNewMarket = Type.Object(
  { event_type: Type.Literal('new_market'), ...ofMarket, ...words, ...numbered },
  { description: 'With custom features: a market was listed, any of the exchange.' },
);

export const FamilyMarketResolved = Type.Object(
  {
    event_type: Type.Literal('market_resolved'),
    ...ofMarket,
    ...words,
    winning_asset_id: orNull(tokenId),
    winning_outcome: orNull(Type.String({ examples: ['Yes'] })),
    ...numbered,
  },
  { description: 'With custom features; a market that pays both tokens has no winner.' },
);

const shownOrder = OpenOrder.properties;

export const FamilyOrder = Type.Object(
  {
    event_type: Type.Literal('order'),
    type: Type.Enum(['PLACEMENT', 'UPDATE', 'CANCELLATION']),
    id: shownOrder.id,
    owner: uuid,
    order_owner: uuid,
    market: shownOrder.market,
    asset_id: shownOrder.asset_id,
    side: shownOrder.side,
    original_size: shownOrder.original_size,
    size_matched: shownOrder.size_matched,
    price: shownOrder.price,
    associate_trades: shownOrder.associate_trades,
    outcome: shownOrder.outcome,
    created_at: secondsText,
    expiration: shownOrder.expiration,
    order_type: shownOrder.order_type,
    status: shownOrder.status,
    maker_address: shownOrder.maker_address,
    timestamp: unixMsText,
    ...numbered,
  },
  { description: 'An own order, with the fields of GET /data/orders.' },
);

const { type: _, status: __, maker_orders: makerOrders, ...shownTrade } = Trade.properties;

export const FamilyTrade = Type.Object(
  {
    event_type: Type.Literal('trade'),
    ...shownTrade,
    type: Type.Literal('TRADE'),
    status: Type.Enum(['MATCHED', 'CONFIRMED']),
    trade_owner: uuid,
    maker_orders: Type.Array(
      Type.Object({
        ...makerOrders.items.properties,
        outcome_index: Type.Integer({ minimum: 0, maximum: 1 }),
      }),
    ),
    timestamp: unixMsText,
    ...numbered,
  },
  { description: 'An own trade, with the fields of GET /data/trades: MATCHED, then CONFIRMED.' },
);

export const FamilyActivity = Type.Object(
  {
    topic: Type.Literal('activity'),
    type: Type.Enum(['orders_matched', 'trades']),
    timestamp: unixMs,
    payload: Activity,
    ...numbered,
  },
  { description: 'The taker of a fill, as a row of GET /activity.' },
);

export const FamilyComment = Type.Object(
  {
    topic: Type.Literal('comments'),
    type: Type.Literal('comment_created'),
    timestamp: unixMs,
    payload: Comment,
    ...numbered,
  },
  { description: 'A new comment, as in GET /comments.' },
);

export const FamilyError = Type.Object(
  { error: Type.String({ examples: ['invalid message'] }) },
  { description: 'A frame that was refused; it has no number.' },
);

/** The whole text of a frame that is no JSON. */
export const FamilyPong = Type.Literal('PONG', {
  description: 'A text frame: the answer to PING.',
});

const always = { FamilyError, FamilyPong } as const;

/** Frames of the server by their stream, as the documents call them. */
export const familyMessages = {
  market: {
    FamilyBook,
    FamilyPriceChange,
    FamilyLastTrade,
    FamilyTickSize,
    FamilyBestBidAsk,
    FamilyNewMarket,
    FamilyMarketResolved,
    ...always,
  },
  user: { FamilyOrder, FamilyTrade, ...always },
  'live-data': { FamilyActivity, FamilyComment, ...always },
} as const satisfies Readonly<Record<FamilyStream, Readonly<Record<string, Type.TSchema>>>>;

type Constant<T> = T extends readonly (infer Item)[]
  ? readonly Constant<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Constant<T[Name]> }
    : T;

type Unnumbered<Message> = Message extends unknown
  ? Constant<Omit<Message, keyof typeof numbered>>
  : never;

/** A message before a connection numbers it. */
export type FamilyMessage = Unnumbered<
  | Static<typeof FamilyBook>
  | Static<typeof FamilyPriceChange>
  | Static<typeof FamilyLastTrade>
  | Static<typeof FamilyTickSize>
  | Static<typeof FamilyBestBidAsk>
  | Static<typeof FamilyNewMarket>
  | Static<typeof FamilyMarketResolved>
  | Static<typeof FamilyOrder>
  | Static<typeof FamilyTrade>
  | Static<typeof FamilyActivity>
  | Static<typeof FamilyComment>
>;
