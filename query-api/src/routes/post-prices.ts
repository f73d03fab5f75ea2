import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import { noQuote } from '../core/quote.ts';
import { ReadRefusal } from '../core/refusal.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listedItems, readTokenItems } from './tokens.ts';

/** POST /prices: best prices by token; an empty side of a book has no key (docs/conventions.md 1.3). */
export function pricesRoute({ books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return readRoute({ method: 'POST', path: '/prices', family: 'clob' }, async ({ body }) => {
    const items = readTokenItems(body);
    if (items instanceof ReadRefusal) return items;
    const listed = listedItems(catalog, items);
    const quotes = await books.quotes(listed.map(({ listing }) => listing));
    const answer: Record<string, { BUY?: string; SELL?: string }> = {};
    for (const { listing, side } of listed) {
      const { ask, bid } = quotes.get(listing.token) ?? noQuote;
      const prices = answer[listing.token] ?? {};
      if (side !== 'SELL' && ask !== null) prices.BUY = priceText(ask);
      if (side !== 'BUY' && bid !== null) prices.SELL = priceText(bid);
      answer[listing.token] = prices;
    }
    return answer;
  });
}
