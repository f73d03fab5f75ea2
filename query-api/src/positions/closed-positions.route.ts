import type { DoorRoute } from '@pm/kit/http';
import { pricedBy } from '../books/tokens.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { marketNumbers } from '../markets/market-filter.ts';
import { assetForm } from '../reports/form.io.ts';
import { closedPage, readClosedQuery, selectClosed } from './closed-positions.ts';

/** GET /closed-positions: what a wallet held and holds no more (conventions.md 1.9). */
export function closedPositionsRoute({
  catalog,
  books,
  reports,
}: Pick<ReadPorts, 'catalog' | 'books' | 'reports'>): DoorRoute {
  const route = { method: 'GET', path: '/closed-positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readClosedQuery(query, dialect !== 'family');
    if (asked instanceof ReadRefusal) return asked;
    const markets = marketNumbers(catalog, asked);
    if (asked.limit === 0 || markets?.length === 0) return [];
    const rows = await reports.closedPositions(asked.user, markets);
    const closed = selectClosed(catalog, rows, asked);
    const quotes = await books.quotes(pricedBy(closed.map(({ market }) => market)));
    return closedPage(closed, asked, { catalog, quotes, form: assetForm(dialect) });
  });
}
