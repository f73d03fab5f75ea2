import type { QueryReader } from './query-reader.ts';

/** Cursors of paged lists: base64 of a decimal offset; `MA==` is 0, `LTE=` (-1) says that there are no more pages. */
export const endCursor = 'LTE=';

/** The names of one parameter: clients of the family send each of them. */
export const cursorNames = ['after_cursor', 'next_cursor', 'cursor'] as const;

/** A cursor, and what it was sent as. */
interface SentCursor {
  readonly name: (typeof cursorNames)[number];
  readonly text: string;
}

/** The cursor of a request by any of its names, null without one; two that differ are refused. */
export function readCursor(read: QueryReader, maxChars?: number): SentCursor | null {
  const sent = cursorNames.flatMap((name) => {
    const text = read.text(name, maxChars);
    return text === null ? [] : [{ name, text }];
  });
  const [first = null] = sent;
  for (const { name, text } of sent) if (text !== first?.text) read.invalid(name);
  return first;
}

/** No list is read deeper: offsets cost linearly. */
export const cursorOffsetMax = 1_000_000;

const base64Text = /^[A-Za-z0-9+/]{2,200}={0,2}$/;
const offsetText = /^(0|[1-9]\d*|-1)$/;

/**
 * The offset a cursor stands for: -1 after the last page or the deepest one, 0 without a cursor, null when it is none.
 */
export function parseCursor(cursor: string | null): number | null {
  if (cursor === null || cursor === '') return 0;
  if (!base64Text.test(cursor)) return null;
  const text = Buffer.from(cursor, 'base64').toString('latin1');
  if (!offsetText.test(text)) return null;
  const offset = Number(text);
  return offset <= cursorOffsetMax ? offset : -1;
}

export function cursorOf(offset: number): string {
  return Buffer.from(String(offset), 'latin1').toString('base64');
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly next_cursor: string;
  readonly limit: number;
  readonly count: number;
}

/** A page of `limit` items; `found` may hold one more, which says that there is a next page. */
export function pageOf<T>(found: readonly T[], offset: number, limit: number): Page<T> {
  const data = found.slice(0, limit);
  const next = offset + limit;
  const more = found.length > limit && next <= cursorOffsetMax;
  return { data, next_cursor: more ? cursorOf(next) : endCursor, limit, count: data.length };
}

/** The page after the last one, and the page of a search that can find nothing. */
export function emptyPage(limit: number): Page<never> {
  return { data: [], next_cursor: endCursor, limit, count: 0 };
}

/** Limits of one page of a report. */
export interface PageBounds {
  /** Rows of a page: at least (0 unless it is said, which answers an empty list), at most, and without a word. */
  readonly limitMin?: number;
  readonly limitMax: number;
  readonly limitDefault: number;
  /** Rows before a page: they are read and sorted like those on it. */
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
