import { type DoorRoute, directAnswers } from '@pm/kit/http';
import type { RouteGenericInterface } from 'fastify';
import type { RawQuery } from '../core/query-reader.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { emptyBook } from './book-bytes.ts';
import { isOfThePast, pastBookOf } from './past-book.ts';
import type { ReadPorts } from './ports.ts';
import { answerFailure, sendAnswer } from './route.ts';
import { listingIn } from './tokens.ts';

type Ports = Pick<ReadPorts, 'books' | 'catalog' | 'tables' | 'nowMs'>;

/**
 * GET /book: the stored bytes as they are (docs/conventions.md 1.3), or the book of a past moment (1.3a). The hottest read, so bytes
 * at hand are sent at once, without a promise, a parse or a copy.
 */
export function bookRoute(ports: Ports): DoorRoute {
  return {
    method: 'GET',
    path: '/book',
    add(app, { url }) {
      const answer = directAnswers(app, { method: 'GET', url });
      app.get<RouteGenericInterface>(
        url,
        {
          exposeHeadRoute: false,
          errorHandler: (error, request, reply) => answerFailure('clob', { error, request, reply }),
        },
        (request, reply) => {
          const query = request.query as RawQuery;
          const { token_id: token } = query;
          const bytes = typeof token === 'string' ? ports.books.cached(token) : undefined;
          if (bytes !== undefined && !isOfThePast(query)) {
            answer(request, reply, bytes);
            return;
          }
          return bookOf(ports, query).then((answer) => sendAnswer(reply, answer, 'clob'));
        },
      );
    },
  };
}

async function bookOf(ports: Ports, query: RawQuery): Promise<Buffer | ReadRefusal> {
  const listing = listingIn(ports.catalog, query['token_id']);
  if (listing instanceof ReadRefusal) return listing;
  if (isOfThePast(query)) return await pastBookOf(ports, listing, query);
  const [stored = null] = await ports.books.books([listing]);
  return stored ?? emptyBook(listing);
}
