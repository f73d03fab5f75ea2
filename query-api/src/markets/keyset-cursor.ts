import type { QueryReader } from '../door/query-reader.ts';
import { textColumns } from './catalog-tables.ts';
import type { RowCursor, SortKey } from './row-order.ts';
import type { RowQuery, RowSpan, RowTable } from './row-table.ts';

/** `after_cursor` of a list in this order, which must be of one column; null for the first page. */
export function readAfterCursor(read: QueryReader, order: readonly string[]): RowCursor | null {
  const [column = ''] = order;
  if (order.length !== 1) read.invalid('order');
  const cursor = read.text('after_cursor', cursorMaxChars);
  const after = cursor === null ? null : parseKeyset(cursor, column);
  if (cursor !== null && after === null) read.invalid('after_cursor');
  return after;
}

/** Behind the longest title: 500 characters of at most six bytes (JSON escapes some), in base64. */
const cursorMaxChars = 4_500;

/** A place in a list sorted by a column, as an opaque text. */
export function keysetOf(column: string, { key, number }: RowCursor): string {
  return Buffer.from(JSON.stringify([column, key, number]), 'utf8').toString('base64url');
}

/** Null for what is no cursor, or one of another order. */
function parseKeyset(text: string, column: string): RowCursor | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed) || parsed.length !== 3) return null;
    const [name, key, number] = parsed as readonly unknown[];
    return name === column && isKeyOf(column, key) && isInteger(number) ? { key, number } : null;
  } catch {
    return null;
  }
}

function isKeyOf(column: string, value: unknown): value is SortKey {
  return textColumns.includes(column) ? typeof value === 'string' : Number.isFinite(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/**
 * Rows of a list that continues after a row, and `next_cursor` of the page after them; none after the last page:
 * clients stop there.
 */
export function keysetPage<T extends object>(
  table: RowTable<T>,
  query: RowQuery<T>,
  span: RowSpan,
): { readonly rows: readonly T[]; readonly next: { readonly next_cursor?: string } } {
  const { limit, order } = span;
  const [column = 'id'] = order;
  // One row more says that there is another page.
  const found = table.page(query, { ...span, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const place = last === undefined ? null : table.cursorOf(last, column);
  return { rows, next: place === null ? {} : { next_cursor: keysetOf(column, place) } };
}
