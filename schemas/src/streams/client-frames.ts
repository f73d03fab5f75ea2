import { type Static, Type } from 'typebox';
import { conditionId, count, sample, tokenId } from '../http/forms.ts';
import { headers } from '../signing.ts';
import { streamChannelNames } from './channels.ts';
import { streamLimits } from './limits.ts';

const id = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'A number of the client; the answer to the frame repeats it.',
  examples: [1],
});
const channel = Type.Enum([...streamChannelNames], { examples: ['book'] });
const maxItems = streamLimits.keys_per_frame;

const keys = {
  tokens: Type.Optional(
    Type.Array(tokenId, {
      minItems: 1,
      maxItems,
      description: 'Keys of `book` and `best`; elsewhere each stands for its market.',
    }),
  ),
  markets: Type.Optional(
    Type.Array(conditionId, {
      minItems: 1,
      maxItems,
      description: 'Keys of `orders`, `trades`, `markets` and `activity`.',
    }),
  ),
  events: Type.Optional(
    Type.Array(Type.String({ pattern: '^(0|[1-9][0-9]{0,18})$', examples: ['1'] }), {
      minItems: 1,
      maxItems,
      description: 'Keys of `comments`.',
    }),
  ),
};

const epoch = Type.Optional(
  Type.String({
    pattern: '^[0-9a-f]{16}$',
    description:
      'That of `welcome` when the position was current: the position of another log is void.',
    examples: ['9f2b6d4c81e7a053'],
  }),
);

/** Where a subscription goes on: after a message, or after a record of the log. */
export const StreamPosition = Type.Union([
  Type.Object(
    {
      seq: count,
      partition: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 65_535,
          description: 'For `own`, which counts in each.',
        }),
      ),
      epoch,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      partition: Type.Integer({ minimum: 0, maximum: 65_535 }),
      offset: Type.Integer({
        minimum: -1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'The last record that was seen; -1 for all.',
      }),
      epoch,
    },
    { additionalProperties: false },
  ),
]);
export type StreamPosition = Static<typeof StreamPosition>;

const closed = { additionalProperties: false } as const;

export const SubscribeFrame = Type.Object(
  {
    op: Type.Literal('subscribe'),
    id,
    channel,
    ...keys,
    from: Type.Optional(
      Type.Union([
        StreamPosition,
        Type.Array(StreamPosition, {
          minItems: 1,
          maxItems: 256,
          description: 'For `own`: one position for each partition.',
        }),
      ]),
    ),
  },
  {
    ...closed,
    description:
      'Subscribes to keys of a channel. `own` takes none. `markets` without keys: all of them and those that are listed later, as one key `*` of each partition, whose `seq` is the sum of the newest `seq` of its markets.',
    examples: [{ op: 'subscribe', id: 1, channel: 'book', tokens: [sample.token] }],
  },
);
export type SubscribeFrame = Static<typeof SubscribeFrame>;

export const UnsubscribeFrame = Type.Object(
  { op: Type.Literal('unsubscribe'), id, channel, ...keys },
  {
    ...closed,
    description: 'Ends subscriptions; without keys all of the channel.',
    examples: [{ op: 'unsubscribe', id: 2, channel: 'book', tokens: [sample.token] }],
  },
);
export type UnsubscribeFrame = Static<typeof UnsubscribeFrame>;

export const AuthFrame = Type.Object(
  {
    op: Type.Literal('auth'),
    id,
    headers: Type.Record(
      Type.String({ pattern: '^[!-~]{1,64}$' }),
      Type.String({ maxLength: 512, pattern: '^[ -~]*$' }),
      {
        additionalProperties: false,
        maxProperties: 16,
        description:
          'The five headers of an API key over `GET/v1/stream?stream_id=ID&cancel_on_disconnect=OPTION` without a body: the `stream_id` of `welcome`, and `true` or `false` as in this frame, `false` without it.',
      },
    ),
    cancel_on_disconnect: Type.Optional(
      Type.Boolean({
        description:
          'Sends heartbeats for the key as long as the connection is open. Once it ends, open orders of the key are canceled as after a missed heartbeat, 10 to 15 s after the last one: not when another connection with this option, or another heartbeat of the key, comes before.',
      }),
    ),
  },
  {
    ...closed,
    description: 'Proves an API key; opens the channel `own`.',
    examples: [
      {
        op: 'auth',
        id: 3,
        headers: {
          [headers.address]: sample.wallet,
          [headers.apiKey]: sample.apiKey,
          [headers.passphrase]: '5f'.repeat(32),
          [headers.timestamp]: String(sample.seconds),
          [headers.signature]: 'c2lnbmF0dXJl',
        },
        cancel_on_disconnect: false,
      },
    ],
  },
);
export type AuthFrame = Static<typeof AuthFrame>;

export const ChecksumFrame = Type.Object(
  { op: Type.Literal('checksum'), id, tokens: Type.Array(tokenId, { minItems: 1, maxItems }) },
  {
    ...closed,
    description: 'Asks for the checksums of subscribed books; each is a data message.',
    examples: [{ op: 'checksum', id: 4, tokens: [sample.token] }],
  },
);
export type ChecksumFrame = Static<typeof ChecksumFrame>;

export const PingFrame = Type.Object(
  { op: Type.Literal('ping'), id },
  {
    ...closed,
    description: 'Answered with `pong`, as are `PING` and `{"type":"ping"}`.',
    examples: [{ op: 'ping', id: 5 }],
  },
);
export type PingFrame = Static<typeof PingFrame>;

/** Frames of clients by their `op`. */
export const clientFrames = {
  subscribe: SubscribeFrame,
  unsubscribe: UnsubscribeFrame,
  auth: AuthFrame,
  checksum: ChecksumFrame,
  ping: PingFrame,
} as const;

export type ClientFrameOp = keyof typeof clientFrames;
export type ClientFrame = SubscribeFrame | UnsubscribeFrame | AuthFrame | ChecksumFrame | PingFrame;
