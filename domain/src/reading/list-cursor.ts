import { createHash } from 'node:crypto';
import { cursorNames, emptyPage, endCursor, type Page, parseCursor, readCursor } from './paging.ts';
import type { QueryReader } from './query-reader.ts';

/** Names a list with its filters: two in a million million million have the same digest. */
export function listDigest(of: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('base64url').slice(0, 12);
}

/** The place behind a row of the list with this digest, as an opaque text. */
export function cursorBehind(digest: string, key: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([digest, ...key]), 'utf8').toString('base64url');
}

/** The key of the row; null for what is no cursor, or one of another list. */
export function parseCursorBehind(text: string, digest: string): readonly unknown[] | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (!Array.isArray(parsed)) return null;
    const [of, ...key] = parsed as readonly unknown[];
    return of === digest ? key : null;
  } catch {
    return null;
  }
}

/** Where a page begins of a list whose rows come and go while it is read. */
export interface PageStart<K> {
  readonly digest: string;
  /** Null at the first page. */
  readonly after: K | null;
  /** The page after the last one was asked for. */
  readonly isOver: boolean;
}

/**
 * The cursor of a list by this name; null when it is none of this query. Call it when all filters were read: a cursor
 * is refused by any other query.
 */
export function readPageStart<K>(
  read: QueryReader,
  name: string,
  parseKey: (key: readonly unknown[]) => K | null,
): PageStart<K> | null {
  const digest = listDigest([name, read.requested(cursorNames)]);
  const cursor = readCursor(read, cursorMaxChars)?.text ?? null;
  if (read.refusal !== null) return null;
  const isOver = cursor === endCursor;
  if (isOver || parseCursor(cursor) === 0) return { digest, after: null, isOver };
  const key = parseCursorBehind(cursor ?? '', digest);
  const after = key === null ? null : parseKey(key);
  return after === null ? null : { digest, after, isOver: false };
}

/** Behind the longest key: a place in the log with an order id. */
const cursorMaxChars = 200;

/**
 * A page of `limit` rows; `found` may hold one more, which says that there is a next page. Its cursor names the last
 * row, so that what comes or goes meanwhile moves no row from one page to another.
 */
export function pageBehind<T>(
  found: readonly T[],
  limit: number,
  cursorOf: (last: T) => string,
): Page<T> {
  const data = found.slice(0, limit);
  const last = found.length > limit ? data.at(-1) : undefined;
  const next_cursor = last === undefined ? endCursor : cursorOf(last);
  return { ...emptyPage(limit), data, next_cursor, count: data.length };
}

/** Whether a part of a key is a count, and not what anybody may have written into a cursor. */
export function isCount(part: unknown): part is number {
  return Number.isSafeInteger(part) && (part as number) >= 0;
}

/** Whether a part of a key is an offset of the log in digits. */
export function isOffset(part: unknown): part is string {
  return typeof part === 'string' && /^(0|[1-9]\d{0,18})$/.test(part);
}
