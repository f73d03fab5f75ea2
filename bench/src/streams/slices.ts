/** Equal consecutive parts of a list; the last ones are one shorter where it cannot be divided. */
export function slicesOf<T>(list: readonly T[], count: number): readonly (readonly T[])[] {
  return Array.from({ length: count }, (_, at) =>
    list.slice(Math.ceil((at * list.length) / count), Math.ceil(((at + 1) * list.length) / count)),
  );
}

/** Consecutive parts with so many entries each. */
export function partsOf<T>(
  list: readonly T[],
  counts: readonly number[],
): readonly (readonly T[])[] {
  let from = 0;
  return counts.map((count) => {
    from += count;
    return list.slice(from - count, from);
  });
}

/** Messages in groups of one record each, in order. */
export function byRecord(texts: readonly string[]): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let last: number | null = null;
  for (const text of texts) {
    const { at } = JSON.parse(text) as { readonly at: { readonly offset: number } };
    if (at.offset === last) groups.at(-1)?.push(text);
    else groups.push([text]);
    last = at.offset;
  }
  return groups;
}
