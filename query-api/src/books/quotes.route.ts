import type { DoorRoute } from '@pm/kit/http';
import { type LastTradePrice, microText, priceText } from '@pm/schemas';
import { type ReadRequest, readRoute } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import type { Catalog } from '../markets/catalog.ts';
import { noQuote, type Quotes, shownMidpointMicro } from './quote.ts';
import type { StoredBooks } from './stored-books.io.ts';
import {
  type ListedItem,
  listedItems,
  listingIn,
  readTokenItems,
  readTokenLists,
} from './tokens.ts';

export interface QuoteParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes'>;
}

/** GET /midpoint: halfway between best bid and best ask; 404 when there is none (conventions.md 1.1 and 5.1). */
export function midpointRoute({ books, catalog }: QuoteParts): DoorRoute {
  return readRoute(
    { method: 'GET', path: '/midpoint', family: 'clob' },
    async ({ query, dialect }) => {
      const listing = listingIn(catalog, query['token_id']);
      if (listing instanceof ReadRefusal) return listing;
      const quote = (await books.quotes([listing])).get(listing.token) ?? noQuote;
      const midpoint = shownMidpointMicro(quote, dialect);
      return midpoint === null ? refusals.noBook : { mid: microText(midpoint) };
    },
  );
}

/** GET and POST /midpoints: midpoints by token; a token without one has no key (conventions.md 5.1). */
export function midpointsRoutes(parts: QuoteParts): readonly DoorRoute[] {
  return tokenBatchRoutes(parts, '/midpoints', ({ listed, quotes, dialect }) => {
    const shown = listed.flatMap(({ listing: { token } }) => {
      const midpoint = shownMidpointMicro(quotes.get(token) ?? noQuote, dialect);
      return midpoint === null ? [] : [[token, microText(midpoint)] as const];
    });
    return Object.fromEntries(shown);
  });
}

/** GET /spread: best ask less best bid; 404 when a side is empty (conventions.md 5.1). */
export function spreadRoute({ books, catalog }: QuoteParts): DoorRoute {
  return readRoute({ method: 'GET', path: '/spread', family: 'clob' }, async ({ query }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { bid, ask } = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    return bid === null || ask === null ? refusals.noBook : { spread: priceText(ask - bid) };
  });
}

/** GET and POST /spreads: spreads by token; a token with an empty side has no key (conventions.md 5.1). */
export function spreadsRoutes(parts: QuoteParts): readonly DoorRoute[] {
  return tokenBatchRoutes(parts, '/spreads', ({ listed, quotes }) => {
    const shown = listed.flatMap(({ listing: { token } }) => {
      const { bid, ask } = quotes.get(token) ?? noQuote;
      return bid === null || ask === null ? [] : [[token, priceText(ask - bid)] as const];
    });
    return Object.fromEntries(shown);
  });
}

/** GET /price: the price a side gets now: BUY the best ask, SELL the best bid (conventions.md 5.1). */
export function priceRoute({ books, catalog }: QuoteParts): DoorRoute {
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

/** GET and POST /prices: best prices by token; an empty side of a book has no key (conventions.md 5.1). */
export function pricesRoutes(parts: QuoteParts): readonly DoorRoute[] {
  return tokenBatchRoutes(parts, '/prices', ({ listed, quotes }) => {
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

/**
 * The response that clients of the mount `/clob` expect for a token that was never traded (conventions.md 1.1).
 */
const neverTraded: LastTradePrice = { price: '0', side: '' };

/** GET /last-trade-price: the last trade and the side of its aggressor. */
export function lastTradePriceRoute({ books, catalog }: QuoteParts): DoorRoute {
  const route = { method: 'GET', path: '/last-trade-price', family: 'clob' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const listing = listingIn(catalog, query['token_id']);
    if (listing instanceof ReadRefusal) return listing;
    const { last, lastSide } = (await books.quotes([listing])).get(listing.token) ?? noQuote;
    if (last === null) return dialect === 'family' ? neverTraded : refusals.noBook;
    return { price: priceText(last), side: lastSide };
  });
}

/** GET and POST /last-trades-prices: last trades of tokens, those never traded left out (conventions.md 5.1). */
export function lastTradesPricesRoutes(parts: QuoteParts): readonly DoorRoute[] {
  return tokenBatchRoutes(parts, '/last-trades-prices', ({ listed, quotes }) =>
    listed.flatMap(({ listing: { token } }) => {
      const { last, lastSide } = quotes.get(token) ?? noQuote;
      return last === null ? [] : [{ token_id: token, price: priceText(last), side: lastSide }];
    }),
  );
}

/** Data that the response to a batch is made of. */
export interface QuotedBatch extends Pick<ReadRequest, 'dialect'> {
  /** The items that are listed, in the requested order, as often as requested. */
  readonly listed: readonly ListedItem[];
  readonly quotes: Quotes;
}

/**
 * Figures of many tokens at once, by body (`[{"token_id", "side"?}]`) and by query (`token_ids`, `sides`); at most 500,
 * tokens that are not listed left out (conventions.md 5.1).
 */
function tokenBatchRoutes(
  { books, catalog }: QuoteParts,
  path: string,
  answer: (batch: QuotedBatch) => object,
): readonly DoorRoute[] {
  const answerFor = async (request: ReadRequest, items: ReturnType<typeof readTokenItems>) => {
    if (items instanceof ReadRefusal) return items;
    const listed = listedItems(catalog, items);
    const quotes = await books.quotes(listed.map(({ listing }) => listing));
    return answer({ listed, quotes, dialect: request.dialect });
  };
  return [
    readRoute({ method: 'GET', path, family: 'clob' }, (request) =>
      answerFor(request, readTokenLists(request.query)),
    ),
    readRoute({ method: 'POST', path, family: 'clob' }, (request) =>
      answerFor(request, readTokenItems(request.body)),
    ),
  ];
}
