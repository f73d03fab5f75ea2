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

/** Ids of one frame: any word, because one that is not listed yet is no fault. They stay in memory: words are ASCII. */
const idsMax = streamLimits.subscriptions_per_connection;
const wordMaxChars = 80;
const word = (examples: readonly string[], description?: string) =>
  Type.String({
    maxLength: wordMaxChars,
    pattern: '^[ -~]*$',
    ...(description === undefined ? {} : { description }),
    examples: [...examples],
  });
const ids = (description: string, example: string) =>
  Type.Optional(
    orNull(
      Type.Array(word([example]), {
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

const credential = Type.Optional(orNull(Type.String({ maxLength: 500, pattern: '^[ -~]*$' })));

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

/** Forms of the values of filters, in lower case. A slug is a text of the catalog. */
const slug = { pattern: '^[^\\p{Cc}\\p{Cs}]{1,200}$', meaning: 'a slug' };
const filterForms = {
  activity: {
    event_slug: slug,
    market_slug: slug,
    condition_id: { pattern: '^0x[0-9a-f]{64}$', meaning: 'a condition id' },
  },
  comments: {
    parentEntityID: { pattern: '^(0|[1-9][0-9]{0,18})$', meaning: 'a whole number' },
    parentEntityType: { pattern: '^(event|market|series)$', meaning: 'Event, Market or Series' },
  },
} as const;

/**
 * Topics of `/ws/live-data`. Published clients subscribe to all of these types; `silent` ones are taken, and nothing
 * comes of them.
 */
export const liveTopics = {
  activity: { types: ['orders_matched', 'trades'], silent: [], filters: filterForms.activity },
  comments: {
    types: ['comment_created'],
    silent: ['comment_removed', 'reaction_created', 'reaction_removed'],
    filters: filterForms.comments,
  },
} as const;

export type LiveTopic = keyof typeof liveTopics;

/** Names and values are looked at one by one (`liveTopics`), so that a refusal names the one that is wrong. */
export const FamilyFilters = Type.Record(
  Type.String({ pattern: '^[ -~]{0,40}$' }),
  Type.Union([Type.String({ maxLength: 256 }), Type.Number()]),
  { additionalProperties: false, maxProperties: 4, examples: [{ event_slug: 'rain-in-lisbon' }] },
);
export type FamilyFilters = Static<typeof FamilyFilters>;

const topicsText = Object.entries(liveTopics)
  .map(([topic, { types, silent, filters }]) => {
    const named = Object.entries(filters).map(([name, { meaning }]) => `\`${name}\` (${meaning})`);
    const nothing = silent.length === 0 ? '' : `; nothing comes of ${list(silent)}`;
    return `\`${topic}\` has the types ${list([...types, ...silent])}${nothing}; its filters are ${named.join(', ')}`;
  })
  .join('. ');

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

const LiveSubscription = Type.Object({
  topic: word(['activity']),
  type: Type.Optional(
    orNull(word(['orders_matched'], '`*` and none: the first type of the topic.')),
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
    description: `Subscribes to topics of \`/ws/live-data\`, or ends that. ${topicsText}. Values are compared without case. A subscription with another topic, type, filter or form of a value is refused by that name in an error frame; the others of the frame begin.`,
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
