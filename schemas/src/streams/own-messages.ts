import { type Static, Type } from 'typebox';
import { address, buySell, conditionId, decimal, orNull, tokenId, uuid } from '../http/forms.ts';
import { streamLimits } from './limits.ts';
import { changeOf, MessagePosition, partOf, snapshotOf } from './messages.ts';
import { unixMs } from './server-frames.ts';

/** Data messages of the private channel: `seq` counts in each partition (`at.partition`). */
const of = { channel: Type.Literal('own'), wallet: address };
const orderId = Type.String({ pattern: '^0x[0-9a-f]{64}$' });
const timeInForce = Type.Enum(['GTC', 'GTD', 'FOK', 'FAK']);

const Balance = Type.Object(
  { free: decimal, held: decimal },
  {
    description:
      'USDC: sums of what the partition changed since its first record. The balance of the wallet is the sum of all partitions and of its transfers.',
  },
);

const Position = Type.Object({ market: conditionId, token: tokenId, size: decimal });

const OpenOrder = Type.Object({
  id: orderId,
  api_key: uuid,
  market: conditionId,
  token: tokenId,
  side: buySell,
  type: timeInForce,
  price: decimal,
  original_size: decimal,
  resting: orNull(
    Type.String({ description: 'Shares that rest; null while delayed.', examples: ['5'] }),
  ),
  expires_at: Type.Integer({ minimum: 0, description: 'Unix milliseconds; 0 without an end.' }),
  accepted_at: unixMs,
});

export const OwnSnapshotMessage = Type.Object(
  {
    type: Type.Literal('snapshot'),
    ...of,
    ...snapshotOf,
    ...partOf,
    orders: Type.Array(OpenOrder, { maxItems: streamLimits.snapshot_items }),
    balance: Balance,
    positions: Type.Array(Position, { maxItems: streamLimits.snapshot_items }),
  },
  {
    description:
      'What one partition knows of the wallet. Many orders or positions come in parts with the same `seq`, as those of the channel `orders`.',
  },
);

export const OwnOrderMessage = Type.Object(
  {
    type: Type.Literal('event'),
    ...of,
    ...changeOf,
    kind: Type.Literal('order'),
    event: Type.Enum(['placed', 'refused', 'delayed', 'canceled', 'filled']),
    id: orderId,
    market: conditionId,
    resting: orNull(
      Type.String({ description: 'Shares that rest now; null: it never rested.', examples: ['5'] }),
    ),
    reason: orNull(
      Type.String({
        description: 'Code of the refusal, or reason of the cancel.',
        examples: ['USER'],
      }),
    ),
    order: orNull(
      Type.Object(
        {
          api_key: uuid,
          token: tokenId,
          side: buySell,
          type: timeInForce,
          price: decimal,
          original_size: decimal,
          expires_at: Type.Integer({ minimum: 0 }),
          status: Type.Enum(['LIVE', 'MATCHED', 'CANCELED', 'DELAYED']),
        },
        { description: 'Its terms, where it was placed or delayed.' },
      ),
    ),
  },
  { description: 'An own order was placed, refused, delayed, canceled, or filled as a maker.' },
);

export const OwnFillMessage = Type.Object(
  {
    type: Type.Literal('event'),
    ...of,
    ...changeOf,
    kind: Type.Literal('fill'),
    id: Type.String({ description: 'As in GET /data/trades.', examples: ['3-48211-2'] }),
    role: Type.Enum(['TAKER', 'MAKER']),
    order: orderId,
    market: conditionId,
    token: tokenId,
    side: buySell,
    price: decimal,
    size: decimal,
    fee: decimal,
  },
  { description: 'A fill of an own order, in terms of its token.' },
);

export const OwnBalanceMessage = Type.Object(
  {
    type: Type.Literal('event'),
    ...of,
    ...changeOf,
    kind: Type.Literal('balance'),
    balance: Balance,
  },
  { description: 'New sums of the partition.' },
);

export const OwnPositionMessage = Type.Object(
  {
    type: Type.Literal('event'),
    ...of,
    ...changeOf,
    kind: Type.Literal('position'),
    market: conditionId,
    positions: Type.Array(Position, { minItems: 2, maxItems: 2 }),
  },
  { description: 'New totals of the tokens of a market.' },
);

export const OwnTransfersMessage = Type.Object(
  {
    type: Type.Literal('state'),
    ...of,
    kind: Type.Literal('transfers'),
    at: MessagePosition,
    time: unixMs,
    total: decimal,
  },
  {
    description:
      'Sum of all deposits and withdrawals of the wallet, USDC: with the subscription and after each of them. It has no seq: the newest one holds.',
  },
);

export const OwnSessionMessage = Type.Object(
  {
    type: Type.Literal('state'),
    ...of,
    kind: Type.Literal('session'),
    api_key: uuid,
    sequence: Type.Integer({
      minimum: 1,
      description: 'Counts the records of the session of the key; a larger one replaces.',
    }),
    phase: Type.Enum(['LIVE', 'MISSED', 'ENDED'], {
      description: 'LIVE: heartbeats come. MISSED: orders are being canceled. ENDED: they are.',
    }),
    heartbeat_id: uuid,
    time: unixMs,
    deadline: orNull(
      Type.Integer({
        description: 'When orders are canceled unless a heartbeat comes, Unix ms; null: not LIVE.',
      }),
    ),
  },
  {
    description:
      'The session of an API key of the wallet: with the subscription and after each change. The newest one holds.',
  },
);

export const ownMessages = {
  OwnSnapshotMessage,
  OwnOrderMessage,
  OwnFillMessage,
  OwnBalanceMessage,
  OwnPositionMessage,
  OwnTransfersMessage,
  OwnSessionMessage,
} as const;

export type OwnMessage<Name extends keyof typeof ownMessages> = Static<(typeof ownMessages)[Name]>;
