/** Before anything older is looked at, seconds: a day, a month. */
const SPANS_S = [86_400, 30 * 86_400] as const;

export interface NewestSearch {
  /** Rows that make the page full. */
  readonly limit: number;
  /** No row is later, Unix seconds; rows that are nevertheless do no harm. */
  readonly untilS: number;
  /** No earlier row is asked for, Unix seconds; null: all are. */
  readonly sinceS: number | null;
}

/**
 * A page of the newest rows. A query for them opens every part of its table that may hold one, whatever its limit, and there are the
 * more parts the longer the history; so it is put for the last day, then for the last month, and for everything only where those do
 * not fill the page. A full page lacks no newer row.
 */
export async function readNewest<T>(
  { limit, untilS, sinceS }: NewestSearch,
  readSince: (sinceS: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const earliestS = sinceS ?? 0;
  for (const spanS of SPANS_S) {
    if (untilS - spanS <= earliestS) break;
    const rows = await readSince(untilS - spanS);
    if (rows.length >= limit) return rows;
  }
  return await readSince(earliestS);
}
