import { parseCatalogId, QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas/log/catalog';
import { type ReadRequest, readRoute } from '../http/read-route.io.ts';
import { creatorWallets } from '../social/creators.ts';
import {
  assertFigures,
  type CatalogParts,
  eventAnswer,
  eventAnswers,
  listContext,
} from './catalog-responses.io.ts';
import { keysetPage } from './keyset-cursor.ts';
import { readEventsQuery } from './list-events.ts';
import { readKeysetSpan, readSpan } from './list-query.ts';
import { tagsOf } from './wire-event.ts';

/**
 * GET /events, and the same list in two more wrappers: /events/pagination with the number of all matches,
 * /events/keyset with a cursor that stays in place whatever is listed meanwhile.
 */
export function eventsRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const pageAtOffset = async ({ query, dialect }: ReadRequest) => {
    const requested = readEventsQuery(query, listContext(parts, dialect), readSpan);
    if (requested instanceof ReadRefusal) return requested;
    assertFigures(parts, requested);
    const { rows, span, creators } = requested;
    const events = catalog.eventTable.page(rows, span);
    return { data: await eventAnswers(parts, events, { dialect, creators }), rows, span };
  };
  return [
    readRoute(route('/events'), async (request) => {
      const page = await pageAtOffset(request);
      return page instanceof ReadRefusal ? page : page.data;
    }),
    readRoute(route('/events/pagination'), async (request) => {
      const page = await pageAtOffset(request);
      if (page instanceof ReadRefusal) return page;
      const { data, rows, span } = page;
      const totalResults = catalog.eventTable.count(rows);
      const hasMore = span.offset + data.length < totalResults;
      return { data, pagination: { hasMore, totalResults } };
    }),
    readRoute(route('/events/keyset'), async ({ query, dialect }) => {
      const requested = readEventsQuery(query, listContext(parts, dialect), readKeysetSpan);
      if (requested instanceof ReadRefusal) return requested;
      assertFigures(parts, requested);
      const { rows, next } = keysetPage(catalog.eventTable, requested.rows, requested.span);
      const events = await eventAnswers(parts, rows, { dialect, creators: requested.creators });
      return { events, ...next };
    }),
  ];
}

/**
 * One event with its markets, tags and series, by id or slug, and its tags alone; hidden from creators it does not
 * have.
 */
export function eventRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const byId = ({ params }: ReadRequest) => {
    const id = parseCatalogId(params['id'] ?? '');
    return id === null ? refusals.invalidId : (catalog.event(id) ?? refusals.idNotFound);
  };
  const bySlug = ({ params }: ReadRequest) =>
    catalog.eventBySlug(params['slug'] ?? '') ?? refusals.slugNotFound;
  const whole =
    (find: typeof byId, absent: ReadRefusal) =>
    async (request: ReadRequest): Promise<ReadRefusal | object> => {
      const found = scoped(parts, request, { found: find(request), absent });
      if (found instanceof ReadRefusal) return found;
      return await eventAnswer(parts, found.event, {
        dialect: request.dialect,
        creators: found.creators,
      });
    };
  return [
    readRoute(route('/events/:id'), whole(byId, refusals.idNotFound)),
    readRoute(route('/events/slug/:slug'), whole(bySlug, refusals.slugNotFound)),
    readRoute(route('/events/:id/tags'), (request) => {
      const absent = refusals.idNotFound;
      const found = scoped(parts, request, { found: byId(request), absent });
      return found instanceof ReadRefusal ? found : tagsOf(catalog, found.event);
    }),
  ];
}

/** The event found, unless none of its markets is of the requested creator. */
function scoped(
  { catalog, sites }: CatalogParts,
  { query }: ReadRequest,
  { found, absent }: { readonly found: CatalogEvent | ReadRefusal; readonly absent: ReadRefusal },
) {
  const read = new QueryReader(query, 'gamma');
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  if (found instanceof ReadRefusal) return found;
  const creators = creator === null ? null : creatorWallets(creator, sites);
  const isShown =
    creators === null || catalog.creatorsOf(found.id).some((one) => creators.includes(one));
  return isShown ? { event: found, creators } : absent;
}

/**
 * Lists that clients of the family request and that are empty here: no sports data, no clarifications.
 */
export function emptyListRoutes(): readonly HttpHandler[] {
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const nothing = (_request: ReadRequest): object => [];
  return [
    readRoute(route('/teams'), nothing),
    readRoute(route('/sports'), nothing),
    readRoute(route('/sports/market-types'), () => ({ marketTypes: [] })),
    readRoute(route('/market-clarifications'), nothing),
  ];
}
