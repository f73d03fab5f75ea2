import type { DoorRoute } from '@pm/kit/http';
import type { RouteGenericInterface } from 'fastify';
import type { ReadPorts } from '../door/ports.ts';
import { QueryReader, type RawQuery } from '../door/query-reader.ts';
import { answerFailure, readRoute, sendAnswer, tellThrough } from '../door/read-route.io.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import type { Listing } from '../markets/market.ts';
import { emptyBook, joinJson, oneSided, sha1 } from './book-bytes.ts';
import { type Moment, pastBookJson } from './past-book.ts';
import { listedItems, listingIn, readTokenItems } from './tokens.ts';

type Ports = Pick<ReadPorts, 'books' | 'catalog' | 'tables' | 'log' | 'standing' | 'nowMs'>;

/**
 * GET /book: the stored bytes as they are (conventions.md 1.3), or the book of a past moment (1.3a). The hottest read, so bytes
 * at hand are sent before the framework sees the request.
 */
export function bookRoute(ports: Ports): DoorRoute {
  return {
    method: 'GET',
    path: '/book',
    add(app, { url }) {
      const prefix = `${url}?token_id=`;
      app.answerAtHand(url, { prefix, find: (token) => ports.books.cached(token) });
      app.get<RouteGenericInterface>(
        url,
        {
          errorHandler: (error, request, reply) => answerFailure('clob', { error, request, reply }),
        },
        async (request, reply) => {
          const query = request.query as RawQuery;
          if (isOfThePast(query)) tellThrough(reply, ports.standing.completeThroughMs());
          return sendAnswer(reply, await bookOf(ports, query), 'clob');
        },
      );
    },
  };
}

async function bookOf(ports: Ports, query: RawQuery): Promise<Buffer | ReadRefusal> {
  const { token_id: token } = query;
  const kept = typeof token === 'string' ? ports.books.cached(token) : undefined;
  if (kept !== undefined && !isOfThePast(query)) return kept;
  const listing = listingIn(ports.catalog, token);
  if (listing instanceof ReadRefusal) return listing;
  if (isOfThePast(query)) return await pastBookOf(ports, listing, query);
  const [stored = null] = await ports.books.books([listing]);
  return stored ?? emptyBook(listing);
}

/** POST /books: stored books in the order asked, tokens that are not listed left out (conventions.md 1.3). */
export function booksRoute({ books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return readRoute({ method: 'POST', path: '/books', family: 'clob' }, async ({ body }) => {
    const items = readTokenItems(body);
    if (items instanceof ReadRefusal) return items;
    const listed = listedItems(catalog, items);
    const stored = await books.books(listed.map(({ listing }) => listing));
    return joinJson(
      listed.map(({ listing, side }, index) => {
        const book = stored[index] ?? emptyBook(listing);
        return side === null ? book : oneSided(book, side);
      }),
    );
  });
}

/** Whether a request for a book names a moment or a depth. */
export function isOfThePast({ at, at_offset: offset, level }: RawQuery): boolean {
  return at !== undefined || offset !== undefined || level !== undefined;
}

/** The book at `at` or `at_offset`, by `level` 2 or 3 (conventions.md 1.3a). */
export async function pastBookOf(
  ports: Pick<ReadPorts, 'tables' | 'log' | 'nowMs'>,
  listing: Listing,
  query: RawQuery,
): Promise<Buffer | ReadRefusal> {
  const read = new QueryReader(query, 'clob');
  const level = read.oneOf('level', ['2', '3'], '2');
  if (read.refusal !== null) return refusals.invalidLevel;
  const moment = momentIn(read, query);
  if (moment === null) return refusals.invalidMoment;
  if (!(await hasCome(ports, listing, moment))) return refusals.invalidMoment;
  const past = await ports.tables.pastBook(listing, moment, level === '3');
  return past === null ? refusals.noBook : Buffer.from(pastBookJson(listing, past, sha1));
}

async function hasCome(
  { log, nowMs }: Pick<ReadPorts, 'log' | 'nowMs'>,
  { market }: Listing,
  moment: Moment,
): Promise<boolean> {
  if ('atMs' in moment) return moment.atMs >= 0 && moment.atMs <= nowMs();
  return await log.hasCome(market.partition, moment.inOffset);
}

const milliseconds = /^(0|[1-9]\d{0,14})$/;

/** Exactly one of both; null when that is not so. */
function momentIn(read: QueryReader, { at }: RawQuery): Moment | null {
  const inOffset = read.optionalInteger('at_offset', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const atMs = typeof at === 'string' && milliseconds.test(at) ? Number(at) : read.time('at');
  if (read.refusal !== null || (inOffset === null) === (atMs === null)) return null;
  return atMs === null ? { inOffset: inOffset ?? 0 } : { atMs };
}
