import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { noQuote } from './quote.ts';
import { tokenBatchRoutes } from './token-batches.route.ts';

/** GET and POST /last-trades-prices: last trades of tokens, those never traded left out (conventions.md 1.3). */
export function lastTradesPricesRoutes(
  ports: Pick<ReadPorts, 'books' | 'catalog'>,
): readonly DoorRoute[] {
  return tokenBatchRoutes(ports, '/last-trades-prices', ({ listed, quotes }) =>
    listed.flatMap(({ listing: { token } }) => {
      const { last, lastSide } = quotes.get(token) ?? noQuote;
      return last === null ? [] : [{ token_id: token, price: priceText(last), side: lastSide }];
    }),
  );
}
