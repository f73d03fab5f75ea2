import type { DoorRoute } from '@pm/kit/http';
import { checksumAddress } from '@pm/schemas';
import { unitsOf } from '../books/displayed-price.ts';
import { pricedBy } from '../books/tokens.ts';
import type { ReadPorts } from '../door/ports.ts';
import { QueryReader } from '../door/query-reader.ts';
import { readRoute } from '../door/read-route.io.ts';
import { marketNumbers, readMarketFilter } from '../markets/market-filter.ts';
import { anyPosition, currentMicro, selectHoldings } from './positions.ts';
import { readWallet } from './positions-query.ts';

/** GET /value and GET /traded: what a wallet's tokens are worth, and in how many markets it traded (conventions.md 1.9). */
export function walletFigureRoutes({
  catalog,
  books,
  tables,
  reports,
}: Pick<ReadPorts, 'catalog' | 'books' | 'tables' | 'reports'>): readonly DoorRoute[] {
  const value = { method: 'GET', path: '/value', family: 'data' } as const;
  const traded = { method: 'GET', path: '/traded', family: 'data' } as const;
  return [
    readRoute(value, async ({ query, dialect }) => {
      const read = new QueryReader(query, 'data');
      if (dialect !== 'family') read.onlyKnown(['user', 'market', 'eventId']);
      const user = readWallet(read);
      const markets = marketNumbers(catalog, readMarketFilter(read));
      if (read.refusal !== null || user === null) return read.refusal ?? [];
      const rows = markets?.length === 0 ? [] : await tables.positions(user, markets);
      const holdings = selectHoldings(catalog, rows, anyPosition);
      const quotes = await books.quotes(pricedBy(holdings.map(({ market }) => market)));
      const totalMicro = holdings.reduce((sum, one) => sum + currentMicro(one, quotes), 0);
      return [{ user: checksumAddress(user), value: unitsOf(totalMicro) }];
    }),
    readRoute(traded, async ({ query, dialect }) => {
      const read = new QueryReader(query, 'data');
      if (dialect !== 'family') read.onlyKnown(['user']);
      const user = readWallet(read);
      if (read.refusal !== null || user === null) return read.refusal ?? [];
      return { user: checksumAddress(user), traded: await reports.traded(user) };
    }),
  ];
}
