import type { DoorRoute } from '@pm/kit/http';
import { hasCreator } from '../core/list-events.ts';
import { QueryReader } from '../core/query-reader.ts';
import { refusals } from '../core/refusal.ts';
import { wholeEvent } from '../core/wire-event.ts';
import { eventMarket, familyMarket } from '../core/wire-market.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listingsOf } from './tokens.ts';

const integerText = /^\d{1,18}$/;

/** GET /events/:id: one event with its markets, tags and series. */
export function eventRoute({ catalog, books }: Pick<ReadPorts, 'catalog' | 'books'>): DoorRoute {
  const route = { method: 'GET', path: '/events/:id', family: 'gamma' } as const;
  return readRoute(route, async ({ params, query, dialect }) => {
    const read = new QueryReader(query, 'gamma');
    const creator = read.text('creator');
    const id = params['id'] ?? '';
    if (!integerText.test(id)) return refusals.invalidId;
    if (read.refusal !== null) return read.refusal;
    const event = catalog.event(id);
    if (event === undefined) return refusals.idNotFound;
    const markets = catalog.marketsOf(id);
    if (creator !== null && !hasCreator(markets, creator)) return refusals.idNotFound;
    if (dialect === 'specification') return wholeEvent(catalog, event, markets.map(eventMarket));
    const quotes = await books.quotes(listingsOf(markets));
    return wholeEvent(
      catalog,
      event,
      markets.map((market) => familyMarket(market, quotes)),
    );
  });
}
