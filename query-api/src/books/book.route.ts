import type { DoorRoute } from '@pm/kit/http';
import type { RouteGenericInterface } from 'fastify';
import type { ReadPorts } from '../door/ports.ts';
import type { RawQuery } from '../door/query-reader.ts';
import { answerFailure, sendAnswer, tellThrough } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { emptyBook } from './book-bytes.ts';
import { isOfThePast, pastBookOf } from './past-book.io.ts';
import { listingIn } from './tokens.ts';

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
