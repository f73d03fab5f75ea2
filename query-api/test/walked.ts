export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** All rows of a list that is read page by page, up to the first page that is not full. */
export async function walked<T>(
  limit: number,
  read: (page: Page) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const rows: T[] = [];
  for (;;) {
    const page = await read({ limit, offset: rows.length });
    rows.push(...page);
    if (page.length < limit) return rows;
  }
}

/** All rows of a list whose pages begin behind a row. */
export async function walkedBehind<T>(
  limit: number,
  read: (after: T | null) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const rows: T[] = [];
  for (;;) {
    const page = await read(rows.at(-1) ?? null);
    rows.push(...page);
    if (page.length < limit) return rows;
  }
}
