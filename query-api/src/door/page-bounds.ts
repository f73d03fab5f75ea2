import type { QueryReader } from './query-reader.ts';

/** How much of a report one request may ask for. */
export interface PageBounds {
  /** Rows of a page: at least (0 unless it is said, which answers an empty list), at most, and without a word. */
  readonly limitMin?: number;
  readonly limitMax: number;
  readonly limitDefault: number;
  /** Rows in front of a page: they are read and sorted like those on it. */
  readonly offsetMax: number;
}

/** `limit` and `offset`; beyond the bounds they are refused. */
export function readPageOf(
  read: QueryReader,
  { limitMin = 0, limitMax, limitDefault, offsetMax }: PageBounds,
): { readonly limit: number; readonly offset: number } {
  return {
    limit: read.integer('limit', { min: limitMin, max: limitMax, otherwise: limitDefault }),
    offset: read.integer('offset', { min: 0, max: offsetMax, otherwise: 0 }),
  };
}
