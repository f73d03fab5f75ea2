import { type Static, Type } from 'typebox';
import { address, count, orNull } from '../http/forms.ts';
import { streamChannelNames } from './channels.ts';
import { type StreamErrorCode, streamErrors } from './codes.ts';
import {
  type StreamLimitName,
  streamHeartbeatMs,
  streamLimitMeanings,
  streamLimits,
} from './limits.ts';

const id = Type.Integer({
  minimum: 0,
  description: 'That of the frame of the client.',
  examples: [1],
});
const channel = Type.Enum([...streamChannelNames], { examples: ['book'] });
export const unixMs = Type.Integer({
  minimum: 0,
  description: 'Unix milliseconds.',
  examples: [1_780_315_200_123],
});
const partition = Type.Integer({ minimum: 0, maximum: 65_535, examples: [3] });
const newestOffset = Type.Integer({
  minimum: -1,
  description: 'Newest record that the service has taken; -1 before the first.',
  examples: [48_211],
});
const key = Type.String({ description: 'Token, condition, event or wallet.', examples: ['1'] });

/** The newest message of a subscription. */
const KeySeq = Type.Object({
  key,
  partition: Type.Optional(partition),
  seq: count,
});

export const SubscriptionSeq = Type.Object({
  channel,
  key,
  partition: Type.Optional(partition),
  seq: count,
});
export type SubscriptionSeq = Static<typeof SubscriptionSeq>;

const limitNames = Object.keys(streamLimits) as readonly StreamLimitName[];

export const StreamLimits = Type.Object(
  Object.fromEntries(
    limitNames.map((name) => [
      name,
      Type.Integer({
        minimum: 1,
        description: streamLimitMeanings[name],
        examples: [streamLimits[name]],
      }),
    ]),
  ) as Record<StreamLimitName, Type.TInteger>,
);
export type StreamLimits = Static<typeof StreamLimits>;

export const WelcomeFrame = Type.Object(
  {
    type: Type.Literal('welcome'),
    stream_id: Type.String({ description: 'This connection.', examples: ['s-9f2b6d4c81e7a053'] }),
    time: unixMs,
    heartbeat_ms: Type.Literal(streamHeartbeatMs),
    limits: StreamLimits,
    partitions: Type.Array(
      Type.Object({
        partition,
        epoch: orNull(
          Type.String({
            pattern: '^[0-9a-f]{16}$',
            description:
              'Changes only if the log itself was replaced; null before its first record.',
            examples: ['9f2b6d4c81e7a053'],
          }),
        ),
        offset: newestOffset,
      }),
    ),
  },
  { description: 'The first frame of a connection.' },
);
export type WelcomeFrame = Static<typeof WelcomeFrame>;

export const SubscribedFrame = Type.Object(
  {
    type: Type.Literal('subscribed'),
    id,
    channel,
    keys: Type.Array(KeySeq, {
      description: '`seq`: the messages that follow are later than this, or begin with a snapshot.',
    }),
  },
  { description: 'Subscriptions have begun; snapshots follow, then changes.' },
);
export type SubscribedFrame = Static<typeof SubscribedFrame>;

export const UnsubscribedFrame = Type.Object(
  {
    type: Type.Literal('unsubscribed'),
    id,
    channel,
    keys: Type.Array(KeySeq, { description: 'With the newest message of each that was sent.' }),
  },
  { description: 'Subscriptions have ended: nothing of them follows.' },
);
export type UnsubscribedFrame = Static<typeof UnsubscribedFrame>;

export const AuthenticatedFrame = Type.Object(
  { type: Type.Literal('authenticated'), id, wallet: address },
  { description: 'The key is proven; `own` can be subscribed to.' },
);
export type AuthenticatedFrame = Static<typeof AuthenticatedFrame>;

const errorCodes = Object.keys(streamErrors) as readonly StreamErrorCode[];

export const ErrorFrame = Type.Object(
  {
    type: Type.Literal('error'),
    id: orNull(id),
    code: Type.Enum([...errorCodes], { examples: ['unknown_key'] }),
    message: Type.String({ examples: [streamErrors.unknown_key.message] }),
    retryable: Type.Boolean({ description: 'Whether the same frame may succeed later.' }),
  },
  { description: 'A frame that changed nothing, or a subscription that ended (`id` null).' },
);
export type ErrorFrame = Static<typeof ErrorFrame>;

export const HeartbeatFrame = Type.Object(
  {
    type: Type.Literal('heartbeat'),
    time: unixMs,
    lag_ms: Type.Integer({
      minimum: 0,
      description: 'For how long the service has not been able to follow some partition.',
      examples: [0],
    }),
    partitions: Type.Array(
      Type.Object({
        partition,
        offset: newestOffset,
        time: unixMs,
        lag_ms: count,
        live: Type.Boolean({
          description:
            'Whether its owner was heard within a second and the service has taken all that the log had 1.5 s before: what is shown of the partition is of now.',
        }),
      }),
    ),
    subscriptions: Type.Array(
      Type.Object({
        ...SubscriptionSeq.properties,
        waiting: Type.Optional(
          Type.Literal(true, {
            description:
              'What it begins with, or goes on with after a resume, is not sent whole yet.',
          }),
        ),
      }),
      { description: 'Every subscription with its newest message that was sent.' },
    ),
  },
  {
    description:
      'Each second, and once out of turn when `live` of a partition has changed. Without one for three seconds the connection is dead.',
  },
);
export type HeartbeatFrame = Static<typeof HeartbeatFrame>;

export const PongFrame = Type.Object(
  { type: Type.Literal('pong'), id: orNull(id) },
  { description: 'The answer to `ping`; `id` is null where the ping has none.' },
);
export type PongFrame = Static<typeof PongFrame>;

export const ClosingFrame = Type.Object(
  {
    type: Type.Literal('closing'),
    code: Type.Integer({ minimum: 1000, maximum: 4999, examples: [4008] }),
    reason: Type.String({ examples: ['the reader is too slow'] }),
    resume: Type.Array(SubscriptionSeq, {
      description: 'Positions for `from` on the next connection; empty when it makes no sense.',
    }),
  },
  { description: 'The last frame; the connection is closed with the same code.' },
);
export type ClosingFrame = Static<typeof ClosingFrame>;

/** Frames of the server that carry no data, by their `type`. */
export const serverFrames = {
  welcome: WelcomeFrame,
  subscribed: SubscribedFrame,
  unsubscribed: UnsubscribedFrame,
  authenticated: AuthenticatedFrame,
  error: ErrorFrame,
  heartbeat: HeartbeatFrame,
  pong: PongFrame,
  closing: ClosingFrame,
} as const;

export type ServerFrame =
  | WelcomeFrame
  | SubscribedFrame
  | UnsubscribedFrame
  | AuthenticatedFrame
  | ErrorFrame
  | HeartbeatFrame
  | PongFrame
  | ClosingFrame;
