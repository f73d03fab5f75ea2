import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { noQuote } from './quote.ts';
import { listingIn } from './tokens.ts';

/** GET /price: what the side gets now: BUY the best ask, SELL the best bid (conventions.md 1.3). */
export function priceRoute({ books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return readRoute({ method: 'GET', path: '/price', family: 'clob' }, async ({ query }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing === refusals.invalidToken) return listing;
    const side = query['side'];
    if (side !== 'BUY' && side !== 'SELL') return refusals.invalidSide;
    if (listing instanceof ReadRefusal) return listing;
    const quote = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    const price = side === 'BUY' ? quote.ask : quote.bid;
    return price === null ? refusals.noBook : { price: priceText(price) };
  });
}
