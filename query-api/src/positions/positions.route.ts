import { unitsOf } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import { marketNumbers, readMarketFilter } from '@pm/domain/markets/market-filter';
import {
  anyPosition,
  currentMicro,
  positionsPage,
  selectHoldings,
} from '@pm/domain/positions/positions';
import { readPositionsQuery, readWallet } from '@pm/domain/positions/positions-query';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal } from '@pm/domain/reading/refusal';
import { assetForm, reportFrame } from '@pm/domain/reports/tape-query';
import type { Profiles } from '@pm/domain/social/profiles';
import type { HttpHandler } from '@pm/kit/http';
import { checksumAddress } from '@pm/schemas/ids';
import type { StoredBooks } from '../books/stored-books.io.ts';
import { pricedBy } from '../books/tokens.ts';
import { andThen, readRoute } from '../http/read-route.io.ts';
import type { Reports } from '../reports/reports.io.ts';
import type { TableReads } from '../tables/tables.io.ts';
import { closedPage, readClosedQuery, selectClosed } from './closed-positions.ts';
import { HolderTexts, readHoldersQuery } from './holders.ts';
import { marketPositions, pricesOf, readMarketPositionsQuery } from './market-positions.ts';
import type { WalletPositions } from './wallet-positions.io.ts';

export interface PositionParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes'>;
  readonly tables: Pick<TableReads, 'holders'>;
  readonly positions: Pick<WalletPositions, 'closed' | 'open'>;
  readonly reports: Pick<Reports, 'marketPositions' | 'traded'>;
  readonly profiles: Profiles;
}

/** GET /positions: what a wallet holds, valued at displayed prices (conventions.md 6.2). */
export function positionsRoute({ catalog, books, positions }: PositionParts): HttpHandler {
  const route = { method: 'GET', path: '/positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const requested = readPositionsQuery(query, !isFamily);
    if (requested instanceof ReadRefusal) return requested;
    const markets = marketNumbers(catalog, requested);
    if (requested.limit === 0 || markets?.length === 0) return [];
    const rows = await positions.open(requested.user, markets);
    const holdings = selectHoldings(catalog, rows, requested);
    const quotes = await books.quotes(pricedBy(holdings.map(({ market }) => market)));
    const form = assetForm(dialect);
    return positionsPage(holdings, requested, { catalog, quotes, wallet: requested.user, form });
  });
}

/** GET /holders: the largest balances of each token of the requested markets (conventions.md 6.3). */
export function holdersRoute({ catalog, tables, profiles }: PositionParts): HttpHandler {
  const route = { method: 'GET', path: '/holders', family: 'data' } as const;
  const texts = new HolderTexts();
  return readRoute(route, ({ query, dialect }) => {
    const isFamily = dialect === 'family';
    const requested = readHoldersQuery(query, !isFamily);
    if (requested instanceof ReadRefusal) return requested;
    const markets = requested.conditions.flatMap(
      (condition) => catalog.byCondition(condition) ?? [],
    );
    if (requested.limit === 0 || markets.length === 0) return [];
    const form = isFamily ? 'numeric' : 'indexed';
    return andThen(tables.holders(markets, requested), (rows) =>
      Buffer.from(texts.groups(markets, rows, { form, profiles })),
    );
  });
}

/**
 * GET /value and GET /traded: what a wallet's tokens are worth, and in how many markets it traded (conventions.md 6.1).
 */
export function walletFigureRoutes({
  catalog,
  books,
  positions,
  reports,
}: PositionParts): readonly HttpHandler[] {
  const value = { method: 'GET', path: '/value', family: 'data' } as const;
  const traded = { method: 'GET', path: '/traded', family: 'data' } as const;
  return [
    readRoute(value, async ({ query, dialect }) => {
      const read = new QueryReader(query, 'data');
      if (dialect !== 'family') read.onlyKnown(['user', 'market', 'eventId']);
      const user = readWallet(read);
      const markets = marketNumbers(catalog, readMarketFilter(read));
      if (read.refusal !== null || user === null) return read.refusal ?? [];
      const rows = markets?.length === 0 ? [] : await positions.open(user, markets);
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

/** GET /closed-positions: what a wallet held and holds no more (conventions.md 6.1). */
export function closedPositionsRoute({ catalog, books, positions }: PositionParts): HttpHandler {
  const route = { method: 'GET', path: '/closed-positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const requested = readClosedQuery(query, dialect !== 'family');
    if (requested instanceof ReadRefusal) return requested;
    const markets = marketNumbers(catalog, requested);
    if (requested.limit === 0 || markets?.length === 0) return [];
    const rows = await positions.closed(requested.user, markets);
    const closed = selectClosed(catalog, rows, requested);
    const quotes = await books.quotes(pricedBy(closed.map(({ market }) => market)));
    return closedPage(closed, requested, { catalog, quotes, form: assetForm(dialect) });
  });
}

/** GET /v1/market-positions: who holds and held what of a market, with profit and loss (conventions.md 6.1). */
export function marketPositionsRoute(parts: PositionParts): HttpHandler {
  const { catalog, books, reports } = parts;
  const route = { method: 'GET', path: '/v1/market-positions', family: 'data' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const requested = readMarketPositionsQuery(query, dialect !== 'family');
    if (requested instanceof ReadRefusal) return requested;
    const market = catalog.byCondition(requested.condition);
    if (market === undefined || requested.limit === 0) return [];
    const pricesMicro = pricesOf(market, await books.quotes(pricedBy([market])));
    const search = { ...requested, market: market.market, pricesMicro };
    const rows = await reports.marketPositions(search);
    return marketPositions(market, rows, { ...reportFrame(parts, dialect), pricesMicro });
  });
}
