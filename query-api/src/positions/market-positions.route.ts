import type { DoorRoute } from '@pm/kit/http';
import { pricedBy } from '../books/tokens.ts';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { reportFrame } from '../reports/form.io.ts';
import { marketPositions, pricesOf, readMarketPositionsQuery } from './market-positions.ts';

/** GET /v1/market-positions: who holds and held what of a market, with profit and loss (conventions.md 1.9). */
export function marketPositionsRoute(
  ports: Pick<ReadPorts, 'catalog' | 'books' | 'social' | 'reports'>,
): DoorRoute {
  const { catalog, books, reports } = ports;
  const route = { method: 'GET', path: '/v1/market-positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const asked = readMarketPositionsQuery(query, dialect !== 'family');
    if (asked instanceof ReadRefusal) return asked;
    const market = catalog.byCondition(asked.condition);
    if (market === undefined || asked.limit === 0) return [];
    const pricesMicro = pricesOf(market, await books.quotes(pricedBy([market])));
    const search = { ...asked, market: market.market, pricesMicro };
    const rows = await reports.marketPositions(search);
    return marketPositions(market, rows, { ...reportFrame(ports, dialect), pricesMicro });
  });
}
