/** Texts in one statement: parameters travel in the address of the request, of which proxies pass 8 kB. */
const textsMax = 100;
/** Statements of one request that run at once. */
const atOnce = 4;

/** Reads for a long list piece by piece, a few at a time; the rows in the order of the list. */
export async function readInPieces<Text extends string, Row>(
  texts: readonly Text[],
  read: (some: readonly Text[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < texts.length; from += atOnce * textsMax) {
    const pieces: Promise<readonly Row[]>[] = [];
    const to = Math.min(texts.length, from + atOnce * textsMax);
    for (let at = from; at < to; at += textsMax)
      pieces.push(read(texts.slice(at, Math.min(to, at + textsMax))));
    for (const piece of await Promise.all(pieces)) rows.push(...piece);
  }
  return rows;
}

/** Before anything older is looked at, seconds: a day, a month. */
const spansS = [86_400, 30 * 86_400] as const;

export interface NewestSearch {
  /** Rows that make the page full. */
  readonly limit: number;
  /** No row is later, Unix seconds; rows that are nevertheless do no harm. */
  readonly untilS: number;
  /** Earlier rows are not requested, Unix seconds; null: all are. */
  readonly sinceS: number | null;
}

/**
 * A page of the newest rows. A query for them opens every part of its table that may hold one, whatever its limit, and
 * there are the more parts the longer the history; so it is put for the last day, then for the last month, and for
 * everything only where those do not fill the page. A full page lacks no newer row.
 */
export async function readNewest<T>(
  { limit, untilS, sinceS }: NewestSearch,
  readSince: (sinceS: number) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const earliestS = sinceS ?? 0;
  for (const spanS of spansS) {
    if (untilS - spanS <= earliestS) break;
    const rows = await readSince(untilS - spanS);
    if (rows.length >= limit) return rows;
  }
  return await readSince(earliestS);
}
