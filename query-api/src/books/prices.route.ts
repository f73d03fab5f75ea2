import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { noQuote } from './quote.ts';
import { tokenBatchRoutes } from './token-batches.route.ts';

/** GET and POST /prices: best prices by token; an empty side of a book has no key (conventions.md 1.3). */
export function pricesRoutes(ports: Pick<ReadPorts, 'books' | 'catalog'>): readonly DoorRoute[] {
  return tokenBatchRoutes(ports, '/prices', ({ listed, quotes }) => {
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
