import { ReadRefusal } from '@pm/domain/reading/refusal';
import { Fault } from '@pm/kit/fault';
import type { HttpHandler } from '@pm/kit/http';
import { readRoute } from '../http/read-route.io.ts';
import { type CatalogParts, eventAnswers, listContext } from '../markets/catalog-responses.io.ts';
import { readSearchQuery, searchPage } from './search.ts';

/**
 * GET /public-search: events and tags by words, with true totals. Events are reduced at the root and full under
 * `/gamma`.
 */
export function publicSearchRoute(parts: CatalogParts): HttpHandler {
  const { catalog, search } = parts;
  const route = { method: 'GET', path: '/public-search', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const requested = readSearchQuery(query, listContext(parts, dialect));
    if (requested instanceof ReadRefusal) return requested;
    if (!search.isReady) throw new Fault('search_not_ready', 'retry');
    const { events, tags, hasMore, totalResults } = searchPage(
      catalog,
      search.find(requested.words),
      requested,
    );
    const answers =
      dialect === 'family'
        ? await eventAnswers(parts, events, { dialect, creators: requested.creators })
        : events.map(({ id, ticker, slug, title }) => ({ id, ticker, slug, title }));
    return {
      events: answers,
      tags: tags.map(({ tag: { id, label, slug }, eventCount }) => ({
        id,
        label,
        slug,
        event_count: eventCount,
      })),
      pagination: { hasMore, totalResults },
    };
  });
}
