/** Normalised text of a search. */
export interface SearchWords {
  /** As requested (`asTyped`): an exact match comes first. */
  readonly requested: string;
  /** Its words with one space between them. */
  readonly text: string;
  readonly all: readonly string[];
  /** The words that are not common, or all of them when every one is. */
  readonly significant: readonly string[];
}

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

/** A text as it stands, but for spaces around it and capitals. */
export function asTyped(text: string): string {
  return text.trim().toLowerCase();
}

export function searchWords(requested: string): SearchWords {
  const all = wordsIn(requested);
  const significant = all.filter((word) => !common.has(word));
  return {
    requested: asTyped(requested),
    text: all.join(' '),
    all,
    significant: significant.length > 0 ? significant : all,
  };
}
