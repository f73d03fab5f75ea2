import { Type } from 'typebox';
import { EventResponse } from '../http/catalog.ts';
import {
  Creator,
  CreatorList,
  EventList,
  EventPage,
  EventPagination,
  FamilyEventList,
  FamilyEventPage,
  FamilyEventPagination,
  FamilyEventResponse,
  TagList,
} from '../http/catalog-responses.ts';
import { sample } from '../http/forms.ts';
import {
  columns,
  creator,
  keysetParameters,
  listParameters,
  rangeParameters,
  stateParameters,
  tagParameters,
} from './list-parameters.ts';
import { catalogId, listOf, optional, pathOf, shortText, slug } from './parameters.ts';
import { route } from './route.ts';

const read = { method: 'GET', service: 'query-api', family: 'gamma', auth: ['none'] } as const;
const figures = { ...read, headers: ['X-Complete-Through'] } as const;
const filters = {
  id: optional(listOf(catalogId, 100, 'Numbers.')),
  slug: optional(listOf(slug, 100, 'Slugs.')),
  ...stateParameters,
  ...tagParameters,
  exclude_tag_id: optional(listOf(catalogId, 100, 'Without these tags.')),
  series_id: optional(catalogId),
  series_slug: optional(shortText('Slug of a series.')),
  ...creator,
  ...rangeParameters,
};
const byOffset = Type.Object({ ...listParameters(columns.events), ...filters });
const errors = { 400: 'invalid {name}' } as const;
const ofCreator = Type.Object(creator);
const one = {
  description: 'The event.',
  schema: EventResponse,
  mounted: FamilyEventResponse,
} as const;
const idErrors = { 400: 'id must be an integer; invalid creator', 404: 'id not found' } as const;

/** Events (conventions.md 5.6 and 5.7). */
export const eventRoutes = {
  listEvents: route({
    ...figures,
    path: '/events',
    limits: ['events', 'listings'],
    summary: 'Events',
    query: byOffset,
    responses: {
      200: { description: 'A page.', schema: EventList, mounted: FamilyEventList },
    },
    errors,
    examples: [{}, { query: { limit: '5', order: 'volume', active: 'true' } }],
  }),
  listEventsByCursor: route({
    ...figures,
    path: '/events/keyset',
    limits: ['events', 'listings'],
    summary: 'Events, with a cursor that stays in place',
    query: Type.Object({ ...keysetParameters(columns.events), ...filters }),
    responses: {
      200: { description: 'A page.', schema: EventPage, mounted: FamilyEventPage },
    },
    errors,
    examples: [{}, { query: { order: 'volume' } }],
  }),
  listEventsWithTotal: route({
    ...figures,
    path: '/events/pagination',
    limits: ['events', 'listings'],
    summary: 'Events, with the number of all matches',
    query: byOffset,
    responses: {
      200: { description: 'A page.', schema: EventPagination, mounted: FamilyEventPagination },
    },
    errors,
    examples: [{}],
  }),
  listCreators: route({
    ...read,
    path: '/events/creators',
    summary: 'Wallets that made markets',
    query: Type.Object(listParameters(columns.creators)),
    responses: { 200: { description: 'A page.', schema: CreatorList } },
    errors,
    examples: [{}],
  }),
  getCreator: route({
    ...read,
    path: '/events/creators/:id',
    summary: 'A wallet that made markets, by address or site',
    params: Type.Object({ id: Type.String({ description: 'Address of a wallet, or a site.' }) }),
    responses: { 200: { description: 'The wallet.', schema: Creator } },
    errors: { 404: 'id not found' },
    examples: [{ params: { id: sample.wallet } }],
  }),
  getEventBySlug: route({
    ...figures,
    path: '/events/slug/:slug',
    summary: 'An event by slug',
    params: pathOf.slug,
    query: ofCreator,
    responses: { 200: one },
    errors: { 400: 'invalid creator', 404: 'slug not found' },
    examples: [{ params: { slug: 'rain-in-lisbon' } }],
  }),
  getEvent: route({
    ...figures,
    path: '/events/:id',
    summary: 'An event by number',
    params: pathOf.catalogId,
    query: ofCreator,
    responses: { 200: one },
    errors: idErrors,
    examples: [{ params: { id: '1' } }],
  }),
  listTagsOfEvent: route({
    ...read,
    path: '/events/:id/tags',
    summary: 'The tags of an event',
    params: pathOf.catalogId,
    query: ofCreator,
    responses: { 200: { description: 'Tags.', schema: TagList } },
    errors: idErrors,
    examples: [{ params: { id: '1' } }],
  }),
} as const;
