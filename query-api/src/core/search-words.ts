/** A text as searches look at it. */
export interface SearchWords {
  /** As it was asked, trimmed and in lower case: a slug is found by it. */
  readonly asked: string;
  /** Its words with one space between them. */
  readonly text: string;
  readonly all: readonly string[];
  /** The words that tell something, or all of them when none does. */
  readonly telling: readonly string[];
}

/** Words of a search that are looked at. */
const wordsMax = 12;

/** So common that they would find everything and cost as much. */
const common = new Set(
  'a an and are as at be by for from if in is it of on or than that the this to was will with'.split(
    ' ',
  ),
);

/** Letters and digits in lower case without accents; everything else stands between words. */
export function wordsIn(text: string): readonly string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

export function isCommon(word: string): boolean {
  return common.has(word);
}

export function searchWords(asked: string): SearchWords {
  const all = wordsIn(asked).slice(0, wordsMax);
  const telling = all.filter((word) => !isCommon(word));
  return {
    asked: asked.trim().toLowerCase(),
    text: all.join(' '),
    all,
    telling: telling.length > 0 ? telling : all,
  };
}
