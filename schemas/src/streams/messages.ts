import { type Static, Type } from 'typebox';
import { buySell, conditionId, count, decimal, orderName, orNull, tokenId } from '../http/forms.ts';
import { Activity } from '../http/reports.ts';
import { streamLimits } from './limits.ts';
import { unixMs } from './server-frames.ts';

/** Data messages of public channels (`own-messages.ts` has the private one). */
export const MessagePosition = Type.Object(
  {
    partition: Type.Integer({ minimum: 0, maximum: 65_535, examples: [3] }),
    offset: Type.Integer({
      minimum: -1,
      description: 'Input offset of the record; of a snapshot the newest record that is in it.',
      examples: [48_211],
    }),
    index: Type.Integer({
      minimum: -1,
      description: 'The event of the record that the message stands for; -1: all of them.',
      examples: [2],
    }),
  },
  { description: 'The place in the log.' },
);
export type MessagePosition = Static<typeof MessagePosition>;

const seq = Type.Integer({
  minimum: 0,
  description: 'Counts the messages of the channel and key since the log began; 0: there is none.',
  examples: [42],
});
const prev = Type.Integer({
  minimum: 0,
  description: '`seq` of the message before: a gap is certain if that was not received.',
  examples: [41],
});
const time = Type.Integer({
  minimum: 0,
  description: 'Clock of the partition, Unix milliseconds.',
});
const gap = Type.Optional(
  Type.Literal(true, {
    description: 'The subscription could not be resumed: messages are missing before this.',
  }),
);
const merged = Type.Optional(
  Type.Literal(true, {
    description: 'Stands for several: `prev` is that of the first of them.',
  }),
);

export const snapshotOf = { seq, at: MessagePosition, time, gap };
export const changeOf = { seq, prev, at: MessagePosition, time };
/** Fields of a snapshot that may come in parts. */
export const partOf = {
  part: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Of a snapshot in several parts: which one this is.',
    }),
  ),
  more: Type.Optional(Type.Literal(true, { description: 'Another part follows.' })),
};
const ofToken = { market: conditionId, token: tokenId };
const ofMarket = { market: conditionId };

const Level = Type.Object({ price: decimal, size: decimal });
const levels = (description: string) => Type.Array(Level, { description });

export const BookSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    channel: Type.Literal('book'),
    ...ofToken,
    ...snapshotOf,
    bids: levels('As in GET /book: the best one last.'),
    asks: levels('As in GET /book: the best one last.'),
  },
  { description: 'The book of a token.' },
);

export const BookDeltaMessage = Type.Object(
  {
    type: Type.Literal('delta'),
    channel: Type.Literal('book'),
    ...ofToken,
    ...changeOf,
    merged,
    levels: Type.Array(Type.Object({ side: buySell, price: decimal, size: decimal }), {
      description: 'New totals; "0" removes a level. BUY is a bid.',
    }),
  },
  { description: 'Levels that changed.' },
);

export const BookChecksumMessage = Type.Object(
  {
    type: Type.Literal('checksum'),
    channel: Type.Literal('book'),
    ...ofToken,
    seq,
    at: MessagePosition,
    time,
    hash: Type.String({
      pattern: '^[0-9a-f]{40}$',
      description: '`hash` of GET /book for the book after `seq` and the values beside it.',
      examples: ['56621a121a47ed9333273e21c83b660cff37ae50'],
    }),
    timestamp: Type.String({ pattern: '^[0-9]+$', examples: ['1780315200123'] }),
    tick_size: decimal,
    min_order_size: decimal,
    neg_risk: Type.Boolean(),
    last_trade_price: Type.String({ description: 'Empty when the token was never traded.' }),
  },
  { description: 'The hash of the book after `seq`, with everything it covers besides levels.' },
);

const top = orNull(Level);

export const BestSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    channel: Type.Literal('best'),
    ...ofToken,
    ...snapshotOf,
    bid: top,
    ask: top,
  },
  { description: 'Best prices of a token; null: that side is empty.' },
);

export const BestDeltaMessage = Type.Object(
  {
    type: Type.Literal('delta'),
    channel: Type.Literal('best'),
    ...ofToken,
    ...changeOf,
    merged,
    bid: top,
    ask: top,
  },
  { description: 'New best prices of a token.' },
);

const RestingOrder = Type.Object({
  order: orderName,
  side: buySell,
  price: decimal,
  size: decimal,
});

export const OrdersSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    channel: Type.Literal('orders'),
    ...ofMarket,
    ...snapshotOf,
    ...partOf,
    orders: Type.Array(RestingOrder, {
      maxItems: streamLimits.snapshot_items,
      description: 'In terms of token 0, oldest first: within a price this is their priority.',
    }),
  },
  {
    description:
      'All resting orders of a market. Many come in parts with the same `seq`: part 0 replaces what was known, each later one is added, and the snapshot is whole with the part that has no `more`.',
  },
);

export const OrdersDeltaMessage = Type.Object(
  {
    type: Type.Literal('delta'),
    channel: Type.Literal('orders'),
    ...ofMarket,
    ...changeOf,
    action: Type.Enum(['add', 'change']),
    ...RestingOrder.properties,
  },
  {
    description: 'An order came or became smaller; `size` is what rests now, in terms of token 0.',
  },
);

export const OrdersRemovalMessage = Type.Object(
  {
    type: Type.Literal('delta'),
    channel: Type.Literal('orders'),
    ...ofMarket,
    ...changeOf,
    action: Type.Literal('remove'),
    order: RestingOrder.properties.order,
  },
  { description: 'A resting order left: filled, canceled or expired.' },
);

const emptyList = <const C extends 'trades' | 'activity'>(channel: C) =>
  Type.Object(
    {
      type: Type.Literal('snapshot'),
      channel: Type.Literal(channel),
      ...ofMarket,
      ...snapshotOf,
      items: Type.Array(Type.Object({}), { maxItems: 0, description: 'Always empty.' }),
    },
    { description: 'Where the events begin.' },
  );

export const TradesSnapshotMessage = emptyList('trades');
export const ActivitySnapshotMessage = emptyList('activity');

const hash = Type.String({ pattern: '^0x[0-9a-f]{64}$' });

export const TradeMessage = Type.Object(
  {
    type: Type.Literal('event'),
    channel: Type.Literal('trades'),
    ...ofMarket,
    ...changeOf,
    id: Type.String({ description: 'As in GET /data/trades.', examples: ['3-48211-2'] }),
    transaction_hash: hash,
    match: Type.Enum(['COMPLEMENTARY', 'MINT', 'MERGE']),
    token: tokenId,
    side: Type.Enum(['BUY', 'SELL'], { description: 'Of the taker, in terms of `token`.' }),
    price: decimal,
    size: decimal,
    maker_token: tokenId,
    maker_price: decimal,
    fee_rate_bps: count,
  },
  { description: 'A fill.' },
);

const modes = ['OPEN', 'POST_ONLY', 'CANCEL_ONLY', 'HALTED', 'RESOLVED'] as const;
const mode = Type.Enum([...modes]);

export const StreamMarketRules = Type.Object({
  tokens: Type.Array(tokenId, { minItems: 2, maxItems: 2 }),
  mode,
  trading_mode: Type.Enum([...modes], {
    description: 'That of the exchange: a market takes what both modes allow.',
  }),
  tick_size: decimal,
  min_order_size: decimal,
  fee_rate_bps: count,
  taker_delay_ms: count,
  payouts: orNull(
    Type.Array(decimal, {
      minItems: 2,
      maxItems: 2,
      description: 'USDC that each token pays; null before the resolution.',
    }),
  ),
});

export const MarketsSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    channel: Type.Literal('markets'),
    ...ofMarket,
    ...snapshotOf,
    ...StreamMarketRules.properties,
  },
  { description: 'Rules, mode and payouts of a market.' },
);

export const MarketsEventMessage = Type.Object(
  {
    type: Type.Literal('event'),
    channel: Type.Literal('markets'),
    ...ofMarket,
    ...changeOf,
    merged,
    action: Type.Enum(['listed', 'changed', 'resolved']),
    ...StreamMarketRules.properties,
  },
  { description: 'A market was listed, changed or resolved: its rules from here on.' },
);

export const ActivityMessage = Type.Object(
  {
    type: Type.Literal('event'),
    channel: Type.Literal('activity'),
    ...ofMarket,
    ...changeOf,
    activity: Activity,
  },
  { description: 'One row of GET /activity.' },
);

const event = Type.String({ pattern: '^[0-9]+$', description: 'Event id.', examples: ['1'] });

const commentId = Type.String({ examples: ['17'] });
const Comment = {
  parent_type: Type.Enum(['Event', 'Series', 'market']),
  parent_id: Type.String({ examples: ['1'] }),
  reply_to: Type.String({ description: 'Empty at the top of a thread.' }),
  author: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  name: Type.String(),
  body: Type.String({ examples: ['It rains.'] }),
  created_at: unixMs,
  reactions: count,
};

/**
 * Numbers of comments are places in their topic, which is append-only: `seq` is the offset of the record plus one.
 * They need no counter, so they outlast threads that a process forgets, and records that an operator would delete from
 * the beginning of the topic; all processes number alike. What connects the messages of an event is `prev`.
 */
export const CommentsSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    channel: Type.Literal('comments'),
    event,
    ...snapshotOf,
    items: Type.Array(Type.Object({ comment_id: commentId, ...Comment }), {
      maxItems: 20,
      description: 'The newest comments that are shown, the newest first.',
    }),
  },
  { description: 'The newest comments. Positions are those of the topic of comments.' },
);

export const CommentMessage = Type.Object(
  {
    type: Type.Literal('event'),
    channel: Type.Literal('comments'),
    event,
    ...changeOf,
    action: Type.Enum(['posted', 'deleted', 'reacted', 'hidden', 'shown']),
    comment_id: commentId,
    comment: orNull(
      Type.Object(Comment, {
        description: 'The comment after the change; null when it is not shown.',
      }),
    ),
  },
  {
    description:
      'A comment was posted, liked, hidden, shown or removed, with the replies below it. `seq` is its place in the topic of comments and not dense: `prev` names the message before.',
  },
);

/** Data messages by name, as the documents call them. */
export const publicMessages = {
  BookSnapshotMessage,
  BookDeltaMessage,
  BookChecksumMessage,
  BestSnapshotMessage,
  BestDeltaMessage,
  OrdersSnapshotMessage,
  OrdersDeltaMessage,
  OrdersRemovalMessage,
  TradesSnapshotMessage,
  TradeMessage,
  MarketsSnapshotMessage,
  MarketsEventMessage,
  ActivitySnapshotMessage,
  ActivityMessage,
  CommentsSnapshotMessage,
  CommentMessage,
} as const;

/** A data message by the name of its declaration. */
export type PublicMessage<Name extends keyof typeof publicMessages> = Static<
  (typeof publicMessages)[Name]
>;
