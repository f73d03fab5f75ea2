import { isCount, isOffset } from './list-cursor.ts';

/** The event of the log that made a row. */
export interface PlacedRow {
  readonly timeMs: number;
  readonly partition: number;
  /** In digits. */
  readonly inOffset: string;
  readonly eventIndex: number;
}

/** Newest first, ties by place in the log. Rows of one event keep their order. */
export function newestPlaceFirst(left: PlacedRow, right: PlacedRow): number {
  return (
    right.timeMs - left.timeMs ||
    right.partition - left.partition ||
    Number(right.inOffset) - Number(left.inOffset) ||
    right.eventIndex - left.eventIndex
  );
}

/** The place of a row in lists that are newest first, for their cursors. */
export function keyOfPlace(row: PlacedRow): readonly (string | number)[] {
  return [row.timeMs, row.partition, row.inOffset, row.eventIndex];
}

export function placeOfKey(key: readonly unknown[]): PlacedRow | null {
  const [timeMs, partition, inOffset, eventIndex] = key;
  if (!isCount(timeMs) || !isCount(partition) || !isOffset(inOffset)) return null;
  return isCount(eventIndex) ? { timeMs, partition, inOffset, eventIndex } : null;
}

/** Whether a row stands behind another one in such a list: the rule that SQL follows too (`placeBehind`). */
export function followsPlace(row: PlacedRow, after: PlacedRow | null): boolean {
  return after === null || newestPlaceFirst(after, row) < 0;
}

/** The rows of the tables that a page needs when `recentCount` rows are to be merged in: [from, from + count). */
export function storedWindow(
  page: { readonly offset: number; readonly limit: number },
  recentCount: number,
): { readonly from: number; readonly count: number } {
  const from = Math.max(0, page.offset - recentCount);
  return { from, count: page.offset + page.limit - from };
}

/**
 * One page of two lists in the same order that have nothing in common. `stored` starts at `from` of its list, which
 * `storedWindow` chose so that whatever lies before it cannot be on the page.
 */
export function mergePage<T>(
  recent: readonly T[],
  stored: readonly T[],
  page: { readonly offset: number; readonly limit: number; readonly from: number },
  compare: (left: T, right: T) => number,
): readonly T[] {
  const start = page.offset - page.from;
  return merged(recent, stored, compare).slice(start, start + page.limit);
}

function merged<T>(
  recent: readonly T[],
  stored: readonly T[],
  compare: (left: T, right: T) => number,
): readonly T[] {
  return [...recent, ...stored].sort(compare);
}
