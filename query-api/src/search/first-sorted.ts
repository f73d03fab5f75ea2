/** Of a larger share of the rows than this all are sorted. */
const pickedShare = 16;

/** The first rows of a sorted list; a few of many are picked out without sorting the others. */
export function firstSorted<T>(
  rows: readonly T[],
  count: number,
  compare: (left: T, right: T) => number,
): readonly T[] {
  if (count * pickedShare > rows.length) return rows.toSorted(compare).slice(0, count);
  let picked: T[] = [];
  /** What comes behind this one is behind enough others. */
  let bar: T | undefined;
  for (const row of rows) {
    if (bar !== undefined && compare(row, bar) >= 0) continue;
    picked.push(row);
    if (picked.length < 2 * count) continue;
    picked = picked.sort(compare).slice(0, count);
    bar = picked.at(-1);
  }
  return picked.sort(compare).slice(0, count);
}
