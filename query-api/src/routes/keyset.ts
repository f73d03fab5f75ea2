import { keysetOf } from '../core/list-query.ts';
import type { RowSpan, RowTable } from '../core/row-table.ts';

/** `next_cursor` behind the last row of a full page; nothing behind the last page: clients stop where there is none. */
export function nextCursor<T extends object>(
  table: RowTable<T>,
  rows: readonly T[],
  { limit, order: [column = 'id'] }: RowSpan,
): { readonly next_cursor?: string } {
  const last = rows.at(-1);
  const place = last === undefined || rows.length < limit ? null : table.cursorOf(last, column);
  return place === null ? {} : { next_cursor: keysetOf(column, place) };
}
