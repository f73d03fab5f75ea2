import type { DoorRoute } from '@pm/kit/http';
import type { ReadPorts } from '../door/ports.ts';
import { readRoute } from '../door/read-route.io.ts';
import { ReadRefusal } from '../door/refusal.ts';
import { emptyBook, joinJson, oneSided } from './book-bytes.ts';
import { listedItems, readTokenItems } from './tokens.ts';

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
