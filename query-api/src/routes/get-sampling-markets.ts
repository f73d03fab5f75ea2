import type { DoorRoute } from '@pm/kit/http';
import { endCursor, pageOf, parseCursor } from '../core/cursor.ts';
import { QueryReader } from '../core/query-reader.ts';
import { refusals } from '../core/refusal.ts';
import { samplingMarket, samplingMarkets, samplingPageSize } from '../core/sampling.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listingsOf } from './tokens.ts';

/** GET /sampling-markets: markets that earn liquidity rewards now, page by page (docs/conventions.md 1.5 and 6.6). */
export function samplingMarketsRoute({
  catalog,
  books,
}: Pick<ReadPorts, 'catalog' | 'books'>): DoorRoute {
  const route = { method: 'GET', path: '/sampling-markets', family: 'clob' } as const;
  return readRoute(route, async ({ query }) => {
    const read = new QueryReader(query, 'clob');
    const offset = parseCursor(read.text('next_cursor'));
    if (offset === null || read.refusal !== null) return refusals.invalidCursor;
    if (offset < 0) return { data: [], next_cursor: endCursor, limit: samplingPageSize, count: 0 };
    const found = samplingMarkets(catalog).slice(offset, offset + samplingPageSize + 1);
    const page = pageOf(found, offset, samplingPageSize);
    const quotes = await books.quotes(listingsOf(page.data));
    return { ...page, data: page.data.map((market) => samplingMarket(catalog, market, quotes)) };
  });
}
