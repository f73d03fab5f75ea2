import type { DoorRoute } from '@pm/kit/http';
import { priceText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { noQuote } from './quote.ts';
import { tokenBatchRoutes } from './token-batches.route.ts';

/** GET and POST /spreads: spreads by token; a token with an empty side has no key (conventions.md 1.3). */
export function spreadsRoutes(ports: Pick<ReadPorts, 'books' | 'catalog'>): readonly DoorRoute[] {
  return tokenBatchRoutes(ports, '/spreads', ({ listed, quotes }) => {
    const told = listed.flatMap(({ listing: { token } }) => {
      const { bid, ask } = quotes.get(token) ?? noQuote;
      return bid === null || ask === null ? [] : [[token, priceText(ask - bid)] as const];
    });
    return Object.fromEntries(told);
  });
}
