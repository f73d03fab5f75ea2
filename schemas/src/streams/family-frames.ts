import { type Static, Type } from 'typebox';
import { orNull, sample } from '../http/forms.ts';
import type { FamilyStream } from './channels.ts';
import { streamLimits } from './limits.ts';

/**
 * Frames of clients on `/ws/market`, `/ws/user` and `/ws/live-data` (conventions.md part 8). Published clients add
 * fields of their own: fields that are not declared are ignored.
 */
const operation = Type.Enum(['subscribe', 'unsubscribe']);
const switched = (description: string) => Type.Optional(orNull(Type.Boolean({ description })));

/** Ids of one frame: any text, because one that is not listed yet is no fault. */
const idsMax = streamLimits.subscriptions_per_connection;
const idMaxChars = 80;
const ids = (description: string, example: string) =>
  Type.Optional(
    orNull(
      Type.Array(Type.String({ maxLength: idMaxChars, examples: [example] }), {
        maxItems: idsMax,
        description,
      }),
    ),
  );

const markets = ids('Condition ids, in any case.', sample.condition);

/** `operation` decides where it is given; a frame with only a `type` subscribes. */
function forms<const Fields extends Type.TProperties>(stream: FamilyStream, fields: Fields) {
  const type = Type.String({
    pattern: `^${[...stream].map((one) => `[${one.toUpperCase()}${one}]`).join('')}$`,
    description: `"${stream}", in any case.`,
    examples: [stream],
  });
  return [
    Type.Object({ type, operation: Type.Optional(operation), ...fields }),
    Type.Object({ operation, type: Type.Optional(type), ...fields }),
  ] as const;
}

const [firstMarketFrame, laterMarketFrame] = forms('market', {
  assets_ids: ids('Tokens.', sample.token),
  markets,
  custom_feature_enabled: switched(
    'Sends `best_bid_ask`, `new_market` and `market_resolved` as well.',
  ),
  initial_dump: switched('false: books are not sent at the subscription.'),
});

export const FamilyMarketFrame = Type.Union([firstMarketFrame, laterMarketFrame], {
  description: 'Subscribes to tokens of `/ws/market`, or ends that; `markets` stand for both.',
  examples: [{ type: 'market', assets_ids: [sample.token], custom_feature_enabled: true }],
});
export type FamilyMarketFrame = Static<typeof FamilyMarketFrame>;

const credential = Type.Optional(orNull(Type.String({ maxLength: 500 })));

/** Both spellings of the key are in use. */
export const FamilyCredentials = Type.Object({
  apiKey: credential,
  apikey: credential,
  secret: credential,
  passphrase: credential,
});
export type FamilyCredentials = Static<typeof FamilyCredentials>;

const [firstUserFrame, laterUserFrame] = forms('user', {
  markets,
  auth: Type.Optional(orNull(FamilyCredentials)),
});

export const FamilyUserFrame = Type.Union([firstUserFrame, laterUserFrame], {
  description:
    'The first frame of `/ws/user` proves a key; this and later ones name the markets that are wanted: none for all.',
  examples: [
    {
      type: 'user',
      markets: [],
      auth: { apiKey: sample.apiKey, secret: 'c2VjcmV0', passphrase: '5f'.repeat(32) },
    },
  ],
});
export type FamilyUserFrame = Static<typeof FamilyUserFrame>;

/** Values are compared as texts, without case. Subscriptions stay in memory: their texts are short. */
export const FamilyFilters = Type.Record(
  Type.String({ pattern: '^.{0,40}$' }),
  Type.Union([Type.String({ maxLength: 256 }), Type.Number()]),
  { additionalProperties: false, maxProperties: 4, examples: [{ event_slug: 'rain-in-lisbon' }] },
);
export type FamilyFilters = Static<typeof FamilyFilters>;

const LiveSubscription = Type.Object({
  topic: Type.String({ maxLength: idMaxChars, examples: ['activity'] }),
  type: Type.Optional(
    orNull(
      Type.String({
        maxLength: idMaxChars,
        description: '`*` and none: the first type of the topic.',
        examples: ['orders_matched'],
      }),
    ),
  ),
  filters: Type.Optional(
    Type.Union([
      FamilyFilters,
      Type.Null(),
      Type.String({ description: 'The same as a JSON text; empty for everything.' }),
    ]),
  ),
});

export const FamilyLiveFrame = Type.Object(
  {
    action: operation,
    subscriptions: Type.Array(LiveSubscription, { maxItems: streamLimits.keys_per_frame }),
  },
  {
    description:
      'Subscribes to topics of `/ws/live-data`, or ends that; topics and types that do not exist are silent.',
  },
);
export type FamilyLiveFrame = Static<typeof FamilyLiveFrame>;

/** The whole text of a frame that is no JSON. */
export const FamilyPing = Type.String({
  pattern: '^[Pp][Ii][Nn][Gg]\\s*$',
  description: 'A text frame in any case, answered with PONG.',
  examples: ['PING'],
});

/** Frames of clients by their stream, as the documents call them. */
export const familyFrames = {
  market: { FamilyMarketFrame, FamilyPing },
  user: { FamilyUserFrame, FamilyPing },
  'live-data': { FamilyLiveFrame, FamilyPing },
} as const satisfies Readonly<Record<FamilyStream, Readonly<Record<string, Type.TSchema>>>>;
