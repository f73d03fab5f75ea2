import { Type } from 'typebox';
import { EventSummary, SamplingMarket, SeriesResponse } from './catalog.ts';
import { flag, number, text } from './forms.ts';

/** Further answers of the catalog (specification; conventions.md 5.5 and 5.6). */
const { rewards, tokens } = SamplingMarket.properties;
/** Element of /simplified-markets and /sampling-simplified-markets. */
export const SimplifiedMarket = Type.Object({
  condition_id: text,
  creator: Type.Union([text, Type.Null()]),
  status: text,
  question: text,
  slug: text,
  market_id: number,
  neg_risk: flag,
  active: flag,
  closed: flag,
  archived: flag,
  accepting_orders: flag,
  tokens,
  rewards,
  assets_ids: Type.Array(text),
  outcomes: Type.Array(text),
});

/** GET /clob-markets/{condition_id}. */
export const CompactMarket = Type.Object({
  gst: Type.Null(),
  r: rewards,
  c: text,
  creator: Type.Union([text, Type.Null()]),
  nr: flag,
  t: Type.Array(Type.Object({ t: text, o: text })),
  mts: number,
  mos: number,
  fd: Type.Object({ r: number, e: number, to: flag }),
  mbf: number,
  tbf: number,
  rfqe: flag,
  itode: Type.Optional(Type.Literal(true)),
  ibce: flag,
  oas: number,
});

/** GET /public-search. */
export const SearchResponse = Type.Object({
  events: Type.Array(Type.Object({ id: text, ticker: text, slug: text, title: text })),
  tags: Type.Array(
    Type.Object({ id: text, label: text, slug: text, event_count: Type.Integer({ minimum: 0 }) }),
  ),
  pagination: Type.Object({ hasMore: flag, totalResults: Type.Integer({ minimum: 0 }) }),
});

/** Element of /series. */
export const SeriesWithEvents = Type.Object({
  ...SeriesResponse.properties,
  events: Type.Array(EventSummary),
});
