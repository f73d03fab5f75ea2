import {
  bestPrice,
  noQuote,
  type Quote,
  shownMidpointMicro,
  shownQuote,
  sideOf,
} from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { Dialect, HttpHandler } from '@pm/kit/http';
import { microText, priceText } from '@pm/schemas/decimal';
import type { LastTradePrice } from '@pm/schemas/http/reading';
import { andThen, type ReadRequest, readRoute } from '../http/read-route.io.ts';
import { lastTradesJson, midpointsJson, pricesJson, spreadsJson } from './quote-texts.ts';
import type { StoredBooks } from './stored-books.io.ts';
import { type TokenBatch, TokenBatches } from './token-batch.ts';
import { listingIn } from './tokens.ts';

export interface QuoteParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes' | 'quotesInOrder'>;
}

/** GET /midpoint: halfway between best bid and best ask; 404 when there is none (conventions.md 1.1 and 5.1). */
export function midpointRoute({ books, catalog }: QuoteParts): HttpHandler {
  return readRoute(
    { method: 'GET', path: '/midpoint', family: 'clob' },
    async ({ query, dialect }) => {
      const listing = listingIn(catalog, query['token_id']);
      if (listing instanceof ReadRefusal) return listing;
      const midpoint = shownMidpointMicro(await shownOf(books, listing), dialect);
      return midpoint === null ? refusals.noBook : { mid: microText(midpoint) };
    },
  );
}

/** GET and POST /midpoints: midpoints by token; a token without one has no key (conventions.md 5.1). */
export function midpointsRoutes(parts: QuoteParts): readonly HttpHandler[] {
  return tokenBatchRoutes(parts, '/midpoints', midpointsJson);
}

/** GET /spread: best ask less best bid; 404 when a side is empty (conventions.md 5.1). */
export function spreadRoute({ books, catalog }: QuoteParts): HttpHandler {
  return readRoute({ method: 'GET', path: '/spread', family: 'clob' }, async ({ query }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { bid, ask } = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    return bid === null || ask === null ? refusals.noBook : { spread: priceText(ask - bid) };
  });
}

/** GET and POST /spreads: spreads by token; a token with an empty side has no key (conventions.md 5.1). */
export function spreadsRoutes(parts: QuoteParts): readonly HttpHandler[] {
  return tokenBatchRoutes(parts, '/spreads', spreadsJson);
}

/** GET /price: the best price under a side, which root and mount read differently (conventions.md 5.1). */
export function priceRoute({ books, catalog }: QuoteParts): HttpHandler {
  return readRoute(
    { method: 'GET', path: '/price', family: 'clob' },
    async ({ query, dialect }) => {
      const listing = listingIn(catalog, query['token_id']);
      if (listing === refusals.invalidToken) return listing;
      const side = sideOf(query['side']);
      if (side === null) return refusals.invalidSide;
      if (listing instanceof ReadRefusal) return listing;
      const price = bestPrice(await shownOf(books, listing), side, dialect);
      return price === null ? refusals.noBook : { price: priceText(price) };
    },
  );
}

/** GET and POST /prices: best prices by token; an empty side of a book has no key (conventions.md 5.1). */
export function pricesRoutes(parts: QuoteParts): readonly HttpHandler[] {
  return tokenBatchRoutes(parts, '/prices', pricesJson);
}

/**
 * The response that clients of the mount `/clob` expect for a token that was never traded (conventions.md 1.1).
 */
const neverTraded: LastTradePrice = { price: '0', side: '' };

/** GET /last-trade-price: the last trade and the side of its aggressor. */
export function lastTradePriceRoute({ books, catalog }: QuoteParts): HttpHandler {
  const route = { method: 'GET', path: '/last-trade-price', family: 'clob' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { last, lastSide } = await shownOf(books, listing);
    if (last === null) return dialect === 'family' ? neverTraded : refusals.noBook;
    return { price: priceText(last), side: lastSide };
  });
}

/** GET and POST /last-trades-prices: last trades of tokens, those never traded left out (conventions.md 5.1). */
export function lastTradesPricesRoutes(parts: QuoteParts): readonly HttpHandler[] {
  return tokenBatchRoutes(parts, '/last-trades-prices', lastTradesJson);
}

async function shownOf(books: QuoteParts['books'], listing: Listing): Promise<Quote> {
  const quotes = await books.quotes([listing]);
  return shownQuote(listing, quotes.get(listing.token) ?? noQuote);
}

/** The JSON of a response, all of it ASCII. */
type BatchJson = (batch: TokenBatch, quotes: readonly Quote[], dialect: Dialect) => string;

/**
 * Figures of many tokens at once, by body (`[{"token_id", "side"?}]`) and by query (`token_ids`, `sides`); at most 500,
 * tokens that are not listed left out (conventions.md 5.1). The text is made of what is at hand without an object or a
 * promise for each token.
 */
function tokenBatchRoutes(
  { books, catalog }: QuoteParts,
  path: string,
  jsonOf: BatchJson,
): readonly HttpHandler[] {
  const batches = new TokenBatches(catalog);
  const answerFor = ({ dialect }: ReadRequest, batch: TokenBatch | ReadRefusal) => {
    if (batch instanceof ReadRefusal) return batch;
    const write = (quotes: readonly Quote[]) =>
      Buffer.from(jsonOf(batch, quotes, dialect), 'latin1');
    return andThen(books.quotesInOrder(batch.listings), write);
  };
  return [
    readRoute({ method: 'GET', path, family: 'clob' }, (request) =>
      answerFor(request, batches.ofQuery(request.query)),
    ),
    readRoute({ method: 'POST', path, family: 'clob', repeatsBodies: true }, (request) =>
      answerFor(request, batches.ofBody(request.body)),
    ),
  ];
}
