import { type Static, Type } from 'typebox';

/** Bodies of the operator's listener that change one entry of the catalog. What is not named stays as it is. */
const flag = Type.Optional(Type.Boolean());
const word = (maxLength: number) => Type.Optional(Type.String({ maxLength }));
const name = (maxLength: number) => Type.Optional(Type.String({ minLength: 1, maxLength }));
const dateTime = Type.Optional(
  Type.String({ maxLength: 40, description: 'ISO 8601; UTC without a zone.' }),
);
const removable = (value: Type.TString, description: string) =>
  Type.Optional(Type.Union([value, Type.Null()], { description }));
const endDate = removable(
  Type.String({ maxLength: 40 }),
  'ISO 8601; UTC without a zone; null takes it away.',
);
const series = removable(
  Type.String({ minLength: 1, maxLength: 200 }),
  'A title; null takes the event off its series.',
);
const closed = { additionalProperties: false };

const states = { active: flag, closed: flag, archived: flag };
const pictures = { image: word(500), icon: word(500) };
const texts = { description: word(10_000), resolutionSource: word(500), ...pictures };
const dates = { startDate: dateTime, endDate: dateTime };
const groups = {
  tags: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 })),
  series: word(200),
};
const metadata = Type.Optional(Type.Object({}, { description: 'Free object, at most 10 kB.' }));
const eventWords = { ...texts, ...dates, ...groups };

/** PATCH /operator/events/{id}. */
export const EventChange = Type.Object(
  {
    slug: name(200),
    title: name(500),
    ticker: name(200),
    ...eventWords,
    endDate,
    series,
    ...states,
    metadata,
  },
  closed,
);
export type EventChange = Static<typeof EventChange>;

/** POST /operator/events: an event without markets yet. */
export const NewEvent = Type.Object(
  {
    slug: Type.String({ minLength: 1, maxLength: 200 }),
    title: Type.String({ minLength: 1, maxLength: 500 }),
    ...eventWords,
  },
  closed,
);
export type NewEvent = Static<typeof NewEvent>;

/** PATCH /operator/markets/{id}: words and visibility; rules and modes have routes of their own. */
export const MarketChange = Type.Object(
  {
    slug: name(200),
    question: name(500),
    groupItemTitle: word(200),
    metadata,
    category: word(100),
    ...texts,
    ...dates,
    endDate,
    ...states,
    outcomes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 2, maxItems: 2 }),
    ),
    creator: Type.Optional(Type.String({ pattern: '^(0x[0-9a-fA-F]{40})?$' })),
  },
  closed,
);
export type MarketChange = Static<typeof MarketChange>;

/** POST /operator/tags wants a label; PATCH /operator/tags/{id}. */
export const TagChange = Type.Object(
  { label: name(100), slug: name(200), requiresTranslation: flag },
  closed,
);
export type TagChange = Static<typeof TagChange>;

/** POST /operator/series wants a title; PATCH /operator/series/{id}. */
export const SeriesChange = Type.Object(
  {
    title: name(200),
    slug: name(200),
    ticker: name(200),
    seriesType: word(100),
    recurrence: word(100),
    ...pictures,
    ...states,
  },
  closed,
);
export type SeriesChange = Static<typeof SeriesChange>;

/** Response of the operator's routes that write one entry of the catalog. */
export const EntryResult = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  changed: Type.Boolean({ description: 'False when it was so already.' }),
});
export type EntryResult = Static<typeof EntryResult>;
