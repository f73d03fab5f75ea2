import { Type } from 'typebox';
import { CatalogTagResponse } from '../http/catalog.ts';
import { SearchResponse, SeriesWithEvents } from '../http/catalog-lists.ts';
import {
  EmptyList,
  FamilySearchResponse,
  MarketTypes,
  RelatedTags,
  SeriesList,
  TagList,
} from '../http/catalog-responses.ts';
import { columns, creator, listParameters, stateParameters } from './list-parameters.ts';
import { listOf, optional, pathOf, shortText, slug, truth, wholeNumber } from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', family: 'gamma', auth: ['none'] } as const;
const errors = { 400: 'invalid {name}' } as const;
const byId = {
  ...read,
  params: pathOf.catalogId,
  errors: { 400: 'id must be an integer', 404: 'id not found' },
  examples: [{ params: { id: '7' } }],
} as const;
const bySlug = {
  ...read,
  params: pathOf.slug,
  errors: { 404: 'slug not found' },
  examples: [{ params: { slug: 'crypto' } }],
} as const;
const tag = { 200: { description: 'The tag.', schema: CatalogTagResponse } } as const;
const related = { 200: { description: 'At most 100, by rank.', schema: RelatedTags } } as const;
const tags = { 200: { description: 'Tags.', schema: TagList } } as const;
const series = {
  200: { description: 'The series with its 100 newest events.', schema: SeriesWithEvents },
} as const;
const relatedText = 'Tags that share events with a tag, as links';
const relatedTagsText = 'Tags that share events with a tag';

/** Tags, series and search (conventions.md 5.6 and 5.7). */
export const tagRoutes = {
  listTags: route({
    ...read,
    path: '/tags',
    limits: ['tags'],
    summary: 'Tags',
    query: Type.Object({ ...listParameters(columns.tags), ...creator }),
    responses: tags,
    errors,
    examples: [{}],
  }),
  getTag: route({
    ...read,
    path: '/tags/:id',
    summary: 'A tag by number or slug',
    params: Type.Object({ id: Type.String({ description: 'Number or slug.' }) }),
    responses: tag,
    errors: { 404: 'id not found; slug not found' },
    examples: [{ params: { id: '7' } }, { params: { id: 'crypto' } }],
  }),
  listRelatedTags: route({
    ...byId,
    path: '/tags/:id/related-tags',
    summary: relatedText,
    responses: related,
  }),
  listTagsRelatedTo: route({
    ...byId,
    path: '/tags/:id/related-tags/tags',
    summary: relatedTagsText,
    responses: tags,
  }),
  getTagBySlug: route({
    ...bySlug,
    path: '/tags/slug/:slug',
    summary: 'A tag by slug',
    responses: tag,
  }),
  listRelatedTagsBySlug: route({
    ...bySlug,
    path: '/tags/slug/:slug/related-tags',
    summary: relatedText,
    responses: related,
  }),
  listTagsRelatedToSlug: route({
    ...bySlug,
    path: '/tags/slug/:slug/related-tags/tags',
    summary: relatedTagsText,
    responses: tags,
  }),
} as const;

export const seriesRoutes = {
  listSeries: route({
    ...read,
    path: '/series',
    summary: 'Series, with their newest events',
    query: Type.Object({
      ...listParameters(columns.series),
      ...stateParameters,
      slug: optional(listOf(slug, 100, 'Slugs.')),
      recurrence: optional(shortText('Such as `daily`.')),
      ...creator,
    }),
    responses: { 200: { description: 'A page.', schema: SeriesList } },
    errors,
    examples: [{}],
  }),
  getSeries: route({
    ...byId,
    path: '/series/:id',
    summary: 'A series by number',
    responses: series,
    examples: [{ params: { id: '3' } }],
  }),
  getSeriesBySlug: route({
    ...bySlug,
    path: '/series/slug/:slug',
    summary: 'A series by slug',
    responses: series,
    examples: [{ params: { slug: 'daily' } }],
  }),
} as const;

export const searchRoutes = {
  search: route({
    ...read,
    headers: ['X-Complete-Through'],
    path: '/public-search',
    limits: ['search'],
    summary: 'Events and tags by words',
    query: Type.Object({
      q: Type.String({ minLength: 1, maxLength: 500, description: 'Words.' }),
      limit_per_type: optional(wholeNumber({ min: 1, max: 500 }, '25 by default. ')),
      page: optional(wholeNumber({ min: 1 }, '1 by default. ')),
      search_tags: optional(truth('True by default.')),
      search_profiles: optional(truth('Profiles are never searched.')),
      events_status: optional(shortText('`active`, `closed` or `resolved`.')),
      sort: optional(shortText('A column; an unknown one is none.')),
      ascending: optional(truth('Of `sort`; descending by default.')),
      ...creator,
    }),
    responses: {
      200: {
        description: 'A page, with the number of all events that match.',
        schema: SearchResponse,
        mounted: FamilySearchResponse,
      },
    },
    errors: { 400: 'q is required; invalid {name}' },
    examples: [{ query: { q: 'rain' } }],
  }),
} as const;

const empty = {
  ...read,
  responses: { 200: { description: 'An empty list.', schema: EmptyList } },
  examples: [{ response: [] }],
} as const;

/** Lists that clients of the family ask for and this exchange has nothing for. */
export const emptyListRoutes = {
  listTeams: route({ ...empty, path: '/teams', summary: 'Teams: there are none' }),
  listSports: route({ ...empty, path: '/sports', summary: 'Sports: there are none' }),
  listSportsMarketTypes: route({
    ...read,
    path: '/sports/market-types',
    summary: 'Types of sports markets: there are none',
    responses: { 200: { description: 'An empty list.', schema: MarketTypes } },
    examples: [{ response: { marketTypes: [] } }],
  }),
  listMarketClarifications: route({
    ...empty,
    path: '/market-clarifications',
    summary: 'Clarifications: there are none',
  }),
} as const;
