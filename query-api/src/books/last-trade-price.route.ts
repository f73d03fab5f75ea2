import type { DoorRoute } from '@pm/kit/http';
import { type LastTradePrice, priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { noQuote } from './quote.ts';
import { listingIn } from './tokens.ts';

/** What clients of the mount `/clob` expect for a token that was never traded (conventions.md, Dialects). */
const neverTraded: LastTradePrice = { price: '0', side: '' };

/** GET /last-trade-price: the last trade and the side of its aggressor. */
export function lastTradePriceRoute({
  books,
  catalog,
}: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  const route = { method: 'GET', path: '/last-trade-price', family: 'clob' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { last, lastSide } = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    if (last === null) return dialect === 'family' ? neverTraded : refusals.noBook;
    return { price: priceText(last), side: lastSide };
  });
}
