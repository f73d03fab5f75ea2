import type { IncomingMessage } from 'node:http';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import type { HttpHandler } from '@pm/kit/http';
import type { RouteGenericInterface } from 'fastify';
import type { AnsweredParts } from '../http/answered-reads.io.ts';
import {
  andThen,
  answerFailure,
  readRoute,
  sendAnswer,
  setCompleteThrough,
} from '../http/read-route.io.ts';
import type { InputEnds } from '../recent/input-ends.io.ts';
import type { ProgressWatch } from '../status/progress.io.ts';
import type { TableReads } from '../tables/tables.io.ts';
import { emptyBook, joinJson, oneSided, sha1 } from './book-bytes.ts';
import { type Moment, pastBookJson } from './past-book.ts';
import type { StoredBooks } from './stored-books.io.ts';
import { type TokenBatch, TokenBatches } from './token-batch.ts';
import { listingIn } from './tokens.ts';

export interface BookParts extends AnsweredParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'books' | 'cached'>;
  readonly tables: Pick<TableReads, 'pastBook'>;
  readonly progress: Pick<ProgressWatch, 'completeThroughMs'>;
  readonly inputEnds: Pick<InputEnds, 'hasCome'>;
  /** Key of the names of resting orders. */
  readonly bookSecret: Buffer;
  nowMs(): number;
}

/**
 * GET /book: the stored bytes as they are (conventions.md 5.1), or the book of a past moment (5.2). The hottest read,
 * so bytes at hand are sent before the framework sees the request.
 */
export function bookRoute(parts: BookParts): HttpHandler {
  return {
    method: 'GET',
    path: '/book',
    add(app, { url }) {
      const prefix = `${url}?token_id=`;
      const { of, books: places } = parts.answered;
      const find = (token: string, request: IncomingMessage) => {
        const answered = of(request);
        const isCurrent = answered === null || places.isReached(answered);
        return isCurrent ? parts.books.cached(token) : undefined;
      };
      app.answerAtHand(url, { prefix, find });
      app.get<RouteGenericInterface>(
        url,
        {
          errorHandler: (error, request, reply) => answerFailure('clob', { error, request, reply }),
        },
        async (request, reply) => {
          const query = request.query as RawQuery;
          if (isOfThePast(query)) setCompleteThrough(reply, parts.progress.completeThroughMs());
          return sendAnswer(reply, await bookOf(parts, query), 'clob');
        },
      );
    },
  };
}

async function bookOf(parts: BookParts, query: RawQuery): Promise<Buffer | ReadRefusal> {
  const { token_id: token } = query;
  const kept = typeof token === 'string' ? parts.books.cached(token) : undefined;
  if (kept !== undefined && !isOfThePast(query)) return kept;
  const listing = listingIn(parts.catalog, token);
  if (listing instanceof ReadRefusal) return listing;
  if (isOfThePast(query)) return await pastBookOf(parts, listing, query);
  const [stored = null] = await parts.books.books([listing]);
  return stored ?? emptyBook(listing);
}

/** POST /books: stored books in the requested order, tokens that are not listed left out (conventions.md 5.1). */
export function booksRoute({ books, catalog }: BookParts): HttpHandler {
  const batches = new TokenBatches(catalog);
  const route = { method: 'POST', path: '/books', family: 'clob', repeatsBodies: true } as const;
  return readRoute(route, ({ body }) => {
    const batch = batches.ofBody(body);
    if (batch instanceof ReadRefusal) return batch;
    return andThen(books.books(batch.listings), (stored) => joinJson(booksOf(batch, stored)));
  });
}

function booksOf(
  { listings, sides }: TokenBatch,
  stored: readonly (Buffer | null)[],
): readonly Buffer[] {
  return listings.map((listing, place) => {
    const book = stored[place] ?? emptyBook(listing);
    const side = sides[place] ?? null;
    return side === null ? book : oneSided(book, side);
  });
}

/** Whether a request for a book names a moment or a depth. */
function isOfThePast({ at, at_offset: offset, level }: RawQuery): boolean {
  return at !== undefined || offset !== undefined || level !== undefined;
}

/** The book at `at` or `at_offset`, by `level` 2 or 3 (conventions.md 5.2). */
async function pastBookOf(
  parts: BookParts,
  listing: Listing,
  query: RawQuery,
): Promise<Buffer | ReadRefusal> {
  const read = new QueryReader(query, 'clob');
  const level = read.oneOf('level', ['2', '3'], '2');
  if (read.refusal !== null) return refusals.invalidLevel;
  const moment = momentIn(read, query);
  if (moment === null) return refusals.invalidMoment;
  if (!(await hasCome(parts, listing, moment))) return refusals.invalidMoment;
  const past = await parts.tables.pastBook(listing, moment, level === '3');
  if (past === null) return refusals.noBook;
  const { bookSecret } = parts;
  return Buffer.from(pastBookJson(listing, past, { sha1, bookSecret }));
}

async function hasCome(
  { inputEnds, nowMs }: BookParts,
  { market }: Listing,
  moment: Moment,
): Promise<boolean> {
  if ('atMs' in moment) return moment.atMs >= 0 && moment.atMs <= nowMs();
  return await inputEnds.hasCome(market.partition, moment.inOffset);
}

const milliseconds = /^(0|[1-9]\d{0,14})$/;

/** Exactly one of both; null when that is not so. */
function momentIn(read: QueryReader, { at }: RawQuery): Moment | null {
  const inOffset = read.optionalInteger('at_offset', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const atMs = typeof at === 'string' && milliseconds.test(at) ? Number(at) : read.time('at');
  if (read.refusal !== null || (inOffset === null) === (atMs === null)) return null;
  return atMs === null ? { inOffset: inOffset ?? 0 } : { atMs };
}
