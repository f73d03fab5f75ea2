import type { Connection } from './connection.ts';
import type { Query } from './http.ts';

const firstCursor = 'MA==';
/** The cursor that follows the last page (conventions.md 1.4). */
const lastCursor = 'LTE=';

interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string;
}

/** Every row of a private list, read page by page on demand. */
export async function* everyRow<T>(
  connection: Connection,
  path: string,
  query: Query,
): AsyncGenerator<T, void, undefined> {
  let cursor = firstCursor;
  while (cursor !== lastCursor) {
    const page: Page<T> = await connection.readOwn(path, { ...query, next_cursor: cursor });
    yield* page.data;
    cursor = page.next_cursor;
  }
}
