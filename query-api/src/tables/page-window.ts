/** Which event of the log a row comes from: what makes it one of its kind in a table of happenings. */
export const placeKey = ['partition', 'in_offset', 'event_index'] as const;
/** The same where each side of a fill has a row. */
export const sideKey = [...placeKey, 'role'] as const;

/**
 * The order of rows that are read page by page. The columns have to tell any two rows apart: those that tie come as they like in each
 * statement, so a page may repeat what the last one showed and another row is on none.
 */
export function inOrder(columns: readonly string[], direction: 'ASC' | 'DESC'): string {
  return `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(', ')}`;
}

/** Newest first, by the key of the table behind the time. */
export function newestFirst(key: readonly string[]): string {
  return inOrder(['time', ...key], 'DESC');
}

/** A row that came again stands twice until ClickHouse has merged it; no batch is repeated under a new token. */
const copies = 2;

/**
 * Rows that hold a page whatever of them is there twice. A query takes so many from the front of the key before it counts each once:
 * `LIMIT BY` alone would make it read on, which costs by the length of the table.
 */
export function windowOf({
  limit,
  offset,
}: {
  readonly limit: number;
  readonly offset: number;
}): number {
  return copies * (offset + limit);
}
