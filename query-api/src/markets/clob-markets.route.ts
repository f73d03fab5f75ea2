import type { Market } from '@pm/domain/markets/market';
import { emptyPage, pageOf, parseCursor, readCursor } from '@pm/domain/reading/paging';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { parseConditionId, parseTokenId } from '@pm/schemas/ids';
import { pricedBy } from '../books/tokens.ts';
import { type ReadRequest, readRoute } from '../http/read-route.io.ts';
import { knownFilters, refusedFilter } from '../http/unserved-filters.ts';
import type { CatalogParts } from './catalog-responses.io.ts';
import {
  clobMarket,
  clobMarkets,
  clobPageSize,
  compactMarket,
  marketByToken,
  simplifiedMarket,
  toTheLetter,
} from './clob-market.ts';

const lists: readonly (readonly [string, ClobList])[] = [
  ['/sampling-markets', 'sampling'],
  ['/sampling-simplified-markets', 'sampling-simplified'],
  ['/simplified-markets', 'simplified'],
];

/** Markets of the order book family: pages, by token, and the compact form that clients read before a market order. */
export function clobListRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const route = (path: string) => ({ method: 'GET', path, family: 'clob' }) as const;
  return [
    ...lists.map(([path, list]) =>
      readRoute(route(path), (request) => clobPage(parts, request, list)),
    ),
    readRoute(route('/markets-by-token/:token_id'), ({ params }) => {
      const token = parseTokenId(params['token_id'] ?? '');
      if (token === null) return refusals.invalidToken;
      const listing = catalog.listing(token);
      return listing === undefined ? refusals.marketNotFound : marketByToken(listing.market);
    }),
    readRoute(route('/clob-markets/:condition_id'), ({ params }) => {
      const condition = parseConditionId(params['condition_id'] ?? '');
      if (condition === null) return refusals.invalidMarket;
      const market = catalog.byCondition(condition);
      return market === undefined ? refusals.marketNotFound : compactMarket(market);
    }),
  ];
}

/** Which markets of the order book family, and in which form. */
export type ClobList = 'full' | 'simplified' | 'sampling' | 'sampling-simplified';

/** A page of markets with displayed prices (conventions.md 5.5 and 1.4). Errors are those of the family clob. */
export async function clobPage(
  { catalog, books }: CatalogParts,
  { query, dialect }: Pick<ReadRequest, 'query' | 'dialect'>,
  list: ClobList,
): Promise<object> {
  const refused = refusedFilter(query, knownFilters, 'clob');
  if (refused !== null) return refused.as('clob');
  const read = new QueryReader(query, 'clob');
  const offset = parseCursor(readCursor(read)?.text ?? null);
  if (offset === null || read.refusal !== null) return refusals.invalidCursor.as('clob');
  if (offset < 0) return emptyPage(clobPageSize);
  const isSampling = list.startsWith('sampling');
  const page = pageOf(clobMarkets(catalog, { isSampling, offset }), offset, clobPageSize);
  const quotes = await books.quotes(pricedBy(page.data));
  const form = (market: Market) =>
    list.endsWith('simplified')
      ? simplifiedMarket(market, quotes)
      : clobMarket(catalog, market, quotes);
  const data = page.data.map(form);
  return { ...page, data: dialect === 'specification' ? data.map(toTheLetter) : data };
}
