import { keysetOf } from './list-query.ts';
import type { RowQuery, RowSpan, RowTable } from './row-table.ts';

/** Rows of a list that goes on behind a row, and `next_cursor` behind them; nothing behind the last page: clients stop there. */
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
