import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { noQuote } from './quote.ts';
import { listingIn } from './tokens.ts';

/** GET /spread: best ask less best bid; 404 when a side is empty (conventions.md 1.3). */
export function spreadRoute({ books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return readRoute({ method: 'GET', path: '/spread', family: 'clob' }, async ({ query }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { bid, ask } = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    return bid === null || ask === null ? refusals.noBook : { spread: priceText(ask - bid) };
  });
}
