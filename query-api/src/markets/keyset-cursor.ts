import { textColumns } from '@pm/domain/markets/catalog-tables';
import type { RowCursor, SortKey } from '@pm/domain/markets/row-order';
import type { RowQuery, RowSpan, RowTable } from '@pm/domain/markets/row-table';
import { cursorBehind, listDigest, parseCursorBehind } from '@pm/domain/reading/list-cursor';
import { cursorNames, readCursor } from '@pm/domain/reading/paging';
import type { QueryReader } from '@pm/domain/reading/query-reader';

/** Sort column of a list that is read by cursor, and what the list has: its cursors are of no use to another list. */
export interface KeysetList {
  readonly column: string;
  /** Digest of the list and its filters. */
  readonly digest: string;
}

/** Where a page of a list by cursor begins; null at the first one. */
export interface KeysetStart {
  readonly list: KeysetList;
  readonly after: RowCursor | null;
}

/** They may change from page to page. */
const pageNames = [...cursorNames, 'limit', 'offset'];

/**
 * The cursor of a list by this name in this order, which must be of one column. Call it when all filters were read:
 * a cursor is refused by any other query.
 */
export function readKeysetStart(
  read: QueryReader,
  name: string,
  { order, ascending }: { readonly order: readonly string[]; readonly ascending: boolean },
): KeysetStart {
  const [column = ''] = order;
  if (order.length !== 1) read.invalid('order');
  read.optionalInteger('offset', { min: 0, max: 0 });
  const asked = read.requested([...pageNames, 'order', 'ascending']);
  const list = { column, digest: listDigest([name, column, ascending, asked]) };
  const sent = readCursor(read, cursorMaxChars);
  if (sent === null) return { list, after: null };
  const after = parseKeyset(sent.text, list);
  if (after === null) read.invalid(sent.name);
  return { list, after };
}

/** Behind the longest title: 500 characters of at most six bytes (JSON escapes some), in base64. */
const cursorMaxChars = 4_500;

/** A place in a list, as an opaque text. */
export function keysetOf({ digest }: KeysetList, { key, number }: RowCursor): string {
  return cursorBehind(digest, [key, number]);
}

/** Null for what is no cursor, or one of another list. */
function parseKeyset(text: string, { column, digest }: KeysetList): RowCursor | null {
  const parsed = parseCursorBehind(text, digest);
  if (parsed?.length !== 2) return null;
  const [key, number] = parsed;
  return isKeyOf(column, key) && isInteger(number) ? { key, number } : null;
}

function isKeyOf(column: string, value: unknown): value is SortKey {
  return textColumns.includes(column) ? typeof value === 'string' : Number.isFinite(value);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** A page of a list by cursor. */
export interface KeysetSpan extends RowSpan, KeysetStart {
  readonly after: RowCursor | null;
}

/**
 * Rows of a list that continues after a row, and `next_cursor` of the page after them; none after the last page:
 * clients stop there.
 */
export function keysetPage<T extends object>(
  table: RowTable<T>,
  query: RowQuery<T>,
  span: KeysetSpan,
): { readonly rows: readonly T[]; readonly next: { readonly next_cursor?: string } } {
  const { limit, list } = span;
  // One row more says that there is another page.
  const found = table.page(query, { ...span, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  const place = last === undefined ? null : table.cursorOf(last, list.column);
  return { rows, next: place === null ? {} : { next_cursor: keysetOf(list, place) } };
}
