import type { DoorRoute } from '@pm/kit/http';
import { microText } from '@pm/schemas';
import type { ReadPorts } from '../door/ports.ts';
import { noQuote, toldMidpointMicro } from './quote.ts';
import { tokenBatchRoutes } from './token-batches.route.ts';

/** GET and POST /midpoints: midpoints by token; a token without one has no key (conventions.md 1.3). */
export function midpointsRoutes(ports: Pick<ReadPorts, 'books' | 'catalog'>): readonly DoorRoute[] {
  return tokenBatchRoutes(ports, '/midpoints', ({ listed, quotes, dialect }) => {
    const told = listed.flatMap(({ listing: { token } }) => {
      const midpoint = toldMidpointMicro(quotes.get(token) ?? noQuote, dialect);
      return midpoint === null ? [] : [[token, microText(midpoint)] as const];
    });
    return Object.fromEntries(told);
  });
}
