import type { DoorRoute } from '@pm/kit/http';
import { microText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import { noQuote, toldMidpointMicro } from './quote.ts';
import { listingIn } from './tokens.ts';

/** GET /midpoint: halfway between best bid and best ask; 404 when there is none (conventions.md 1.3, Dialects). */
export function midpointRoute({ books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return readRoute(
    { method: 'GET', path: '/midpoint', family: 'clob' },
    async ({ query, dialect }) => {
      const listing = listingIn(catalog, query['token_id']);
      if (listing instanceof ReadRefusal) return listing;
      const quote = (await books.quotes([listing])).get(listing.token) ?? noQuote;
      const midpoint = toldMidpointMicro(quote, dialect);
      return midpoint === null ? refusals.noBook : { mid: microText(midpoint) };
    },
  );
}
