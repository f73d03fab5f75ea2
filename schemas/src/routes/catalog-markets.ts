import { Type } from 'typebox';
import { FamilyMarketResponse, MarketResponse, SamplingPage } from '../http/catalog.ts';
import {
  AgentMarkets,
  FamilyAgentMarkets,
  FamilyMarketList,
  FamilyMarketPage,
  MarketDescription,
  MarketList,
  MarketPage,
  TagList,
} from '../http/catalog-responses.ts';
import { BookMarket, RootBookMarket, RootSamplingMarketPage } from '../http/clob-markets.ts';
import { conditionId, sample } from '../http/forms.ts';
import {
  columns,
  creator,
  keysetParameters,
  listParameters,
  numericRangeParameters,
  rangeParameters,
  resolutionParameters,
  stateParameters,
  tagParameters,
} from './list-parameters.ts';
import {
  asset,
  catalogId,
  listOf,
  offsetCursor,
  optional,
  pathOf,
  shortText,
  slug,
  truth,
} from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', family: 'gamma', auth: ['none'] } as const;
const figures = { ...read, headers: ['X-Complete-Through'] } as const;
/** The order book form has prices of the books. */
const bothForms = {
  mounts: ['gamma', 'clob'],
  headers: ['X-Behind', 'X-Complete-Through'],
} as const;
const conditions = optional(listOf(conditionId, 500, 'Condition ids.'));
const tokens = optional(listOf(asset, 500, 'Tokens.'));
const filters = {
  id: optional(listOf(catalogId, 500, 'Numbers.')),
  slug: optional(listOf(slug, 500, 'Slugs.')),
  conditionId: conditions,
  condition_id: conditions,
  condition_ids: conditions,
  conditionIds: conditions,
  clob_token_ids: tokens,
  clobTokenIds: tokens,
  ...stateParameters,
  ...tagParameters,
  event_id: optional(catalogId),
  event_slug: optional(shortText('Slug of an event.')),
  eventSlug: optional(shortText('The same.')),
  ...creator,
  mirror: optional(truth('Paired with a market of another venue: none is.')),
  ...rangeParameters,
  ...numericRangeParameters,
  ...resolutionParameters,
};
const ofCreator = Type.Object(creator);
const errors = { 400: 'invalid {name}' } as const;
const idOrCondition = Type.Object({
  id: Type.String({ description: 'Number, or condition id.', examples: ['1'] }),
});
const notFound = { 400: 'invalid creator', 404: 'id not found' } as const;

/** Markets of the catalog (conventions.md 5.5 and 5.6). */
export const catalogMarketRoutes = {
  listMarkets: route({
    ...figures,
    ...bothForms,
    path: '/markets',
    limits: ['markets', 'listings'],
    summary: 'Markets',
    description:
      'With a cursor, and always under `/clob`, the page of the order book family; otherwise the list of the catalog.',
    query: Type.Object({
      ...listParameters(columns.markets),
      ...filters,
      ...offsetCursor,
    }),
    responses: {
      200: {
        description: 'A page in either form.',
        schema: Type.Union([MarketList, RootSamplingMarketPage]),
        mounted: Type.Union([FamilyMarketList, SamplingPage]),
      },
    },
    errors,
    examples: [{}, { query: { limit: '5', active: 'true' } }, { query: { next_cursor: 'MA==' } }],
  }),
  listMarketsByCursor: route({
    ...figures,
    path: '/markets/keyset',
    limits: ['markets', 'listings'],
    summary: 'Markets, with a cursor that stays in place',
    query: Type.Object({ ...keysetParameters(columns.markets), ...filters }),
    responses: { 200: { description: 'A page.', schema: MarketPage, mounted: FamilyMarketPage } },
    errors,
    examples: [{}],
  }),
  getMarketBySlug: route({
    ...figures,
    path: '/markets/slug/:slug',
    summary: 'A market by slug',
    params: pathOf.slug,
    query: ofCreator,
    responses: {
      200: { description: 'The market.', schema: MarketResponse, mounted: FamilyMarketResponse },
    },
    errors: { 400: 'invalid creator', 404: 'slug not found' },
    examples: [{ params: { slug: 'rain-monday' } }],
  }),
  getMarket: route({
    ...figures,
    ...bothForms,
    path: '/markets/:id',
    summary: 'A market by number or condition id',
    description:
      'A condition id at the root, and anything under `/clob`, gives the order book form with the catalog’s words besides.',
    params: idOrCondition,
    query: ofCreator,
    responses: {
      200: {
        description: 'The market in either form.',
        schema: Type.Union([RootBookMarket, MarketResponse]),
        mounted: Type.Union([BookMarket, FamilyMarketResponse]),
      },
    },
    errors: { 400: 'Invalid market; invalid creator', 404: 'id not found; market not found' },
    examples: [{ params: { id: '1' } }, { params: { id: sample.condition } }],
  }),
  getMarketDescription: route({
    ...read,
    path: '/markets/:id/description',
    summary: 'The description of a market',
    params: idOrCondition,
    query: ofCreator,
    responses: { 200: { description: 'The description.', schema: MarketDescription } },
    errors: notFound,
    examples: [{ params: { id: '1' } }],
  }),
  listTagsOfMarket: route({
    ...read,
    path: '/markets/:id/tags',
    summary: 'The tags of the event of a market',
    params: idOrCondition,
    query: ofCreator,
    responses: { 200: { description: 'Tags.', schema: TagList } },
    errors: notFound,
    examples: [{ params: { id: '1' } }],
  }),
} as const;

/** Markets as agents list them (conventions.md 2.7). */
export const agentMarketRoutes = {
  listMarketsForAgents: route({
    ...figures,
    path: '/api/v1/markets',
    summary: 'Markets in a wrapper, for agents',
    description: 'A bad key reads like none.',
    query: Type.Object({ ...listParameters(columns.markets), ...filters }),
    responses: {
      200: { description: 'A page.', schema: AgentMarkets, mounted: FamilyAgentMarkets },
    },
    errors,
    examples: [{}],
  }),
} as const;
