import type { DoorRoute } from '@pm/kit/http';
import { type EventsQuery, readEventsQuery } from '../core/list-events.ts';
import { readKeysetSpan } from '../core/list-query.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { assertFigures, type CatalogPorts, eventAnswers, listContext } from './catalog-answers.ts';
import { nextCursor } from './keyset.ts';
import { type ReadRequest, readRoute } from './route.ts';

/**
 * GET /events, and the same list in two more wrappers: /events/pagination with the number of all matches, /events/keyset with
 * a cursor that stays in place whatever is listed meanwhile.
 */
export function eventsRoutes(ports: CatalogPorts): readonly DoorRoute[] {
  const { catalog } = ports;
  const route = (path: string) => ({ method: 'GET', path, family: 'gamma' }) as const;
  const answersOf = ({ dialect }: ReadRequest, { creators, ...asked }: EventsQuery) => {
    assertFigures(ports, asked);
    const events = catalog.eventTable.page(asked.rows, asked.span);
    return { events, answers: eventAnswers(ports, events, { dialect, creators }) };
  };
  return [
    readRoute(route('/events'), async (request) => {
      const asked = readEventsQuery(request.query, listContext(ports, request.dialect));
      return asked instanceof ReadRefusal ? asked : await answersOf(request, asked).answers;
    }),
    readRoute(route('/events/pagination'), async (request) => {
      const asked = readEventsQuery(request.query, listContext(ports, request.dialect));
      if (asked instanceof ReadRefusal) return asked;
      const data = await answersOf(request, asked).answers;
      const totalResults = catalog.eventTable.count(asked.rows);
      const hasMore = asked.span.offset + data.length < totalResults;
      return { data, pagination: { hasMore, totalResults } };
    }),
    readRoute(route('/events/keyset'), async (request) => {
      const context = listContext(ports, request.dialect);
      const asked = readEventsQuery(request.query, context, readKeysetSpan);
      if (asked instanceof ReadRefusal) return asked;
      const { events, answers } = answersOf(request, asked);
      return { events: await answers, ...nextCursor(catalog.eventTable, events, asked.span) };
    }),
  ];
}
