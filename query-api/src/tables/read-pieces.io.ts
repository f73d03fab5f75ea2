/** Texts in one statement: parameters travel in the address of the request, of which proxies pass 8 kB. */
const TEXTS_MAX = 100;
/** Statements of one request that run at once. */
const AT_ONCE = 4;

/** Reads for a long list piece by piece, a few at a time; the rows in the order of the list. */
export async function readInPieces<Text extends string, Row>(
  texts: readonly Text[],
  read: (some: readonly Text[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < texts.length; from += AT_ONCE * TEXTS_MAX) {
    const pieces: Promise<readonly Row[]>[] = [];
    const to = Math.min(texts.length, from + AT_ONCE * TEXTS_MAX);
    for (let at = from; at < to; at += TEXTS_MAX)
      pieces.push(read(texts.slice(at, Math.min(to, at + TEXTS_MAX))));
    for (const piece of await Promise.all(pieces)) rows.push(...piece);
  }
  return rows;
}
