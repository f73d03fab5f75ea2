import type { DoorRoute } from '@pm/kit/http';
import type { RouteGenericInterface } from 'fastify';
import type { RawQuery } from '../core/query-reader.ts';
import { ReadRefusal } from '../core/refusal.ts';
import { emptyBook } from './book-bytes.ts';
import type { ReadPorts } from './ports.ts';
import { answerFailure, jsonType, sendAnswer } from './route.ts';
import { listingIn } from './tokens.ts';

/**
 * GET /book: the stored bytes as they are (docs/conventions.md 1.3). The hottest read, so bytes at hand are sent at once,
 * without a promise, a parse or a copy.
 */
export function bookRoute(ports: Pick<ReadPorts, 'books' | 'catalog'>): DoorRoute {
  return {
    method: 'GET',
    path: '/book',
    add(app, { url }) {
      app.get<RouteGenericInterface>(
        url,
        {
          exposeHeadRoute: false,
          errorHandler: (error, request, reply) => answerFailure('clob', { error, request, reply }),
        },
        (request, reply) => {
          const token = (request.query as RawQuery)['token_id'];
          const bytes = typeof token === 'string' ? ports.books.cached(token) : undefined;
          if (bytes !== undefined) return reply.header('content-type', jsonType).send(bytes);
          return bookOf(ports, token).then((answer) => sendAnswer(reply, answer, 'clob'));
        },
      );
    },
  };
}

async function bookOf(
  { books, catalog }: Pick<ReadPorts, 'books' | 'catalog'>,
  token: RawQuery[string],
): Promise<Buffer | ReadRefusal> {
  const listing = listingIn(catalog, token);
  if (listing instanceof ReadRefusal) return listing;
  const [stored = null] = await books.books([listing]);
  return stored ?? emptyBook(listing);
}
