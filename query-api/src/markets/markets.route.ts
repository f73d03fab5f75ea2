import type { Market } from '@pm/domain/markets/market';
import { marketNamed } from '@pm/domain/markets/market-filter';
import { cursorNames } from '@pm/domain/reading/paging';
import { QueryReader } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import { parseConditionId } from '@pm/schemas/ids';
import { pricedBy } from '../books/tokens.ts';
import { type ReadRequest, readRoute } from '../http/read-route.io.ts';
import { creatorWallets } from '../social/creators.ts';
import {
  assertFigures,
  type CatalogParts,
  listContext,
  marketAnswers,
} from './catalog-responses.io.ts';
import { clobMarket, toTheLetter } from './clob-market.ts';
import { clobPage } from './clob-markets.route.ts';
import { keysetPage } from './keyset-cursor.ts';
import { readMarketsQuery } from './list-markets.ts';
import { readKeysetSpan, readSpan } from './list-query.ts';
import { MarketTexts } from './market-texts.io.ts';
import { tagsOf } from './wire-event.ts';

const paths = {
  list: { method: 'GET', path: '/markets', family: 'gamma' },
  keyset: { method: 'GET', path: '/markets/keyset', family: 'gamma' },
} as const;

/**
 * GET /markets has two meanings: with a cursor, and always under `/clob`, it is the page of the order book family;
 * otherwise the list of the catalog (conventions.md 1.2). GET /markets/keyset is the latter with a cursor.
 */
export function marketsRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const texts = new MarketTexts(parts);
  return [
    readRoute(paths.list, async (request) => {
      if (isClobList(request)) return await clobPage(parts, request, 'full');
      const requested = readMarketsQuery(
        request.query,
        listContext(parts, request.dialect),
        readSpan,
      );
      if (requested instanceof ReadRefusal) return requested;
      assertFigures(parts, requested);
      const markets = catalog.marketTable.page(requested.rows, requested.span);
      return Buffer.from(await texts.list(markets, request.dialect));
    }),
    readRoute(paths.keyset, async ({ query, dialect }) => {
      const requested = readMarketsQuery(query, listContext(parts, dialect), readKeysetSpan);
      if (requested instanceof ReadRefusal) return requested;
      assertFigures(parts, requested);
      const { rows, next } = keysetPage(catalog.marketTable, requested.rows, requested.span);
      const nextText = JSON.stringify(next);
      const rest = nextText === '{}' ? '}' : `,${nextText.slice(1)}`;
      return Buffer.from(`{"markets":${await texts.list(rows, dialect)}${rest}`);
    }),
  ];
}

function isClobList({ query, mount }: ReadRequest): boolean {
  return mount === 'clob' || cursorNames.some((name) => query[name] !== undefined);
}

const singlePaths = {
  one: { method: 'GET', path: '/markets/:id', family: 'gamma' },
  bySlug: { method: 'GET', path: '/markets/slug/:slug', family: 'gamma' },
  description: { method: 'GET', path: '/markets/:id/description', family: 'gamma' },
  tags: { method: 'GET', path: '/markets/:id/tags', family: 'gamma' },
} as const;

/**
 * One market. GET /markets/:id has two forms: the catalog's, and for a condition id at the root, and always under
 * `/clob`, that of the order book family, which then carries the catalog's words besides (conventions.md 5.5).
 */
export function marketRoutes(parts: CatalogParts): readonly HttpHandler[] {
  const { catalog } = parts;
  const whole = async (found: Market | ReadRefusal, { dialect }: ReadRequest) => {
    if (found instanceof ReadRefusal) return found;
    const [answer = refusals.idNotFound] = await marketAnswers(parts, [found], dialect);
    return answer;
  };
  return [
    readRoute(singlePaths.one, async (request) => {
      if (isOfTheBook(request)) return await byCondition(parts, request);
      const found = findMarket(parts, request.params['id'] ?? '');
      return await whole(scoped(parts, request, found, refusals.idNotFound), request);
    }),
    readRoute(singlePaths.bySlug, async (request) => {
      const found = catalog.marketBySlug(request.params['slug'] ?? '') ?? refusals.slugNotFound;
      return await whole(scoped(parts, request, found, refusals.slugNotFound), request);
    }),
    readRoute(singlePaths.description, (request) => {
      const found = findMarket(parts, request.params['id'] ?? '');
      const market = scoped(parts, request, found, refusals.idNotFound);
      return market instanceof ReadRefusal ? market : { description: market.description };
    }),
    readRoute(singlePaths.tags, (request) => {
      const found = findMarket(parts, request.params['id'] ?? '');
      const market = scoped(parts, request, found, refusals.idNotFound);
      if (market instanceof ReadRefusal) return market;
      const event = catalog.event(market.eventId);
      return event === undefined ? [] : tagsOf(catalog, event);
    }),
  ];
}

function isOfTheBook({ params, mount }: ReadRequest): boolean {
  return mount === 'clob' || (mount !== 'gamma' && /^0x/i.test(params['id'] ?? ''));
}

/** By number or condition id. */
function findMarket({ catalog }: CatalogParts, id: string): Market | ReadRefusal {
  return marketNamed(catalog, id) ?? refusals.idNotFound;
}

async function byCondition(
  parts: CatalogParts,
  request: ReadRequest,
): Promise<ReadRefusal | object> {
  const { catalog, books } = parts;
  const condition = parseConditionId(request.params['id'] ?? '');
  if (condition === null) return refusals.invalidMarket.as('clob');
  const absent = refusals.marketNotFound.as('clob');
  const market = scoped(parts, request, catalog.byCondition(condition) ?? absent, absent);
  if (market instanceof ReadRefusal) return market;
  const quotes = await books.quotes(pricedBy([market]));
  const found = clobMarket(catalog, market, quotes);
  const answer = request.dialect === 'specification' ? toTheLetter(found) : found;
  const [words = {}] = await marketAnswers(parts, [market], request.dialect);
  // Both forms have `outcomes`, of different types; clients that request by condition read the array.
  return { ...words, ...answer };
}

/** The market found, unless it is not of the requested creator. */
function scoped(
  { sites }: CatalogParts,
  { query }: ReadRequest,
  found: Market | ReadRefusal,
  absent: ReadRefusal,
): Market | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const creator = read.text('creator');
  if (read.refusal !== null) return read.refusal;
  if (found instanceof ReadRefusal || creator === null) return found;
  const wallets = creatorWallets(creator, sites);
  return wallets.includes(found.creator.toLowerCase()) ? found : absent;
}

/**
 * GET /api/v1/markets: markets of the catalog for agents, in a wrapper. A request whose key is missing, bad or paused
 * reads like one without (specification, "Agent API key").
 */
export function agentMarketsRoute(parts: CatalogParts): HttpHandler {
  const { catalog } = parts;
  const route = { method: 'GET', path: '/api/v1/markets', family: 'gamma' } as const;
  return readRoute(route, async ({ query, dialect }) => {
    const requested = readMarketsQuery(query, listContext(parts, dialect), readSpan);
    if (requested instanceof ReadRefusal) return requested;
    assertFigures(parts, requested);
    const markets = catalog.marketTable.page(requested.rows, requested.span);
    const data = await marketAnswers(parts, markets, dialect);
    const { limit, offset } = requested.span;
    return { data, limit, offset, count: data.length };
  });
}
