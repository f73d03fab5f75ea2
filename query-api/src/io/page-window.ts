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
