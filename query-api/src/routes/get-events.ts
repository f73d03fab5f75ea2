import type { DoorRoute } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas';
import { listEvents, readEventsQuery, sortsByVolume } from '../core/list-events.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { listedEvent } from '../core/wire-event.ts';
import { familyMarket, listedMarket } from '../core/wire-market.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listingsOf } from './tokens.ts';

type Ports = Pick<ReadPorts, 'catalog' | 'books' | 'tables' | 'nowMs'>;

/** GET /events: a page of events; their markets are reduced at the root and full under `/gamma`. */
export function eventsRoute(ports: Ports): DoorRoute {
  const { catalog, tables } = ports;
  const route = { method: 'GET', path: '/events', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readEventsQuery(query);
    if (asked instanceof ReadRefusal) return asked;
    const volumes = sortsByVolume(asked) ? await tables.volumes(ports.nowMs()) : new Map();
    const events = listEvents(catalog, asked, volumes);
    if (dialect === 'family') return await familyEvents(ports, events);
    return events.map((event) =>
      listedEvent(catalog, event, catalog.marketsOf(event.id).map(listedMarket)),
    );
  });
}

async function familyEvents(
  { catalog, books }: Ports,
  events: readonly CatalogEvent[],
): Promise<readonly object[]> {
  const quotes = await books.quotes(
    events.flatMap((event) => listingsOf(catalog.marketsOf(event.id))),
  );
  return events.map((event) => {
    const markets = catalog.marketsOf(event.id).map((market) => familyMarket(market, quotes));
    return listedEvent(catalog, event, markets);
  });
}
