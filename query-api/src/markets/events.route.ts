import type { DoorRoute } from '@pm/kit/http';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import {
  assertFigures,
  type CatalogPorts,
  eventAnswers,
  listContext,
} from './catalog-answers.io.ts';
import { keysetPage } from './keyset.ts';
import { readEventsQuery } from './list-events.ts';
import { readKeysetSpan } from './list-query.ts';

/**
 * GET /events, and the same list in two more wrappers: /events/pagination with the number of all matches, /events/keyset with
 * a cursor that stays in place whatever is listed meanwhile.
 */
export function eventsRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const pageAtOffset = async ({ query, dialect }: ReadRequest) => {
    const asked = readEventsQuery(query, listContext(ports, dialect));
    if (asked instanceof ReadRefusal) return asked;
    assertFigures(ports, asked);
    const { rows, span, creators } = asked;
    const events = catalog.eventTable.page(rows, span);
    return { data: await eventAnswers(ports, events, { dialect, creators }), rows, span };
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
      const asked = readEventsQuery(query, listContext(ports, dialect), readKeysetSpan);
      if (asked instanceof ReadRefusal) return asked;
      assertFigures(ports, asked);
      const { rows, next } = keysetPage(catalog.eventTable, asked.rows, asked.span);
      const events = await eventAnswers(ports, rows, { dialect, creators: asked.creators });
      return { events, ...next };
    }),
  ];
}
