import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import { noQuote } from '../core/quote.ts';
import { ReadRefusal } from '../core/refusal.ts';
import type { ReadPorts } from './ports.ts';
import { readRoute } from './route.ts';
import { listedItems, readTokenItems } from './tokens.ts';

/** POST /last-trades-prices: last trades of tokens, those never traded left out (docs/conventions.md 1.3). */
export function lastTradesPricesRoute({
  books,
  catalog,
}: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  const route = { method: 'POST', path: '/last-trades-prices', family: 'clob' } as const;
  return readRoute(route, async ({ body }) => {
    const items = readTokenItems(body);
    if (items instanceof ReadRefusal) return items;
    const listed = listedItems(catalog, items);
    const quotes = await books.quotes(listed.map(({ listing }) => listing));
    return listed.flatMap(({ listing: { token } }) => {
      const { last, lastSide } = quotes.get(token) ?? noQuote;
      return last === null ? [] : [{ token_id: token, price: priceText(last), side: lastSide }];
    });
  });
}
