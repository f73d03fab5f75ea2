import type { DoorRoute } from '@pm/kit/http';
import { hasCreator } from '../core/list-events.ts';
import { QueryReader } from '../core/query-reader.ts';
import { refusals } from '../core/refusal.ts';
import { eventSummary } from '../core/wire-event.ts';
import { eventMarket, familyMarket } from '../core/wire-market.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listingsOf } from './tokens.ts';

/** GET /markets/slug/:slug: one market with its event. */
export function marketBySlugRoute({
  catalog,
  books,
}: Pick<ReadPorts, 'catalog' | 'books'>): DoorRoute {
  const route = { method: 'GET', path: '/markets/slug/:slug', family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const read = new QueryReader(query, 'gamma');
    const creator = read.text('creator');
    if (read.refusal !== null) return read.refusal;
    const market = catalog.marketBySlug(params['slug'] ?? '');
    if (market === undefined) return refusals.slugNotFound;
    if (creator !== null && !hasCreator([market], creator)) return refusals.slugNotFound;
    const event = catalog.event(market.eventId);
    const events = event === undefined ? [] : [eventSummary(event)];
    if (dialect === 'specification') return { ...eventMarket(market), events };
    const quotes = await books.quotes(listingsOf([market]));
    return { ...familyMarket(market, quotes), events };
  });
}
