import type { DoorRoute } from '@pm/kit/http';
import { pricedBy } from '../books/tokens.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { marketNumbers } from '../markets/market-filter.ts';
import { assetForm } from '../reports/form.io.ts';
import { positionsPage, selectHoldings } from './positions.ts';
import { readPositionsQuery } from './positions-query.ts';

/** GET /positions: what a wallet holds, valued at displayed prices (conventions.md 6.1). */
export function positionsRoute({
  catalog,
  books,
  tables,
}: Pick<ReadPorts, 'catalog' | 'books' | 'tables'>): DoorRoute {
  const route = { method: 'GET', path: '/positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const asked = readPositionsQuery(query, !isFamily);
    if (asked instanceof ReadRefusal) return asked;
    const markets = marketNumbers(catalog, asked);
    if (asked.limit === 0 || markets?.length === 0) return [];
    const rows = await tables.positions(asked.user, markets);
    const holdings = selectHoldings(catalog, rows, asked);
    const quotes = await books.quotes(pricedBy(holdings.map(({ market }) => market)));
    const form = assetForm(dialect);
    return positionsPage(holdings, asked, { catalog, quotes, wallet: asked.user, form });
  });
}
