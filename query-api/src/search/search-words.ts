/** A text as searches look at it. */
export interface SearchWords {
  /** As it was asked (`asTyped`): what it names exactly comes first. */
  readonly asked: string;
  /** Its words with one space between them. */
  readonly text: string;
  readonly all: readonly string[];
  /** The words that tell something, or all of them when none does. */
  readonly telling: readonly string[];
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

export function searchWords(asked: string): SearchWords {
  const all = wordsIn(asked);
  const telling = all.filter((word) => !common.has(word));
  return {
    asked: asTyped(asked),
    text: all.join(' '),
    all,
    telling: telling.length > 0 ? telling : all,
  };
}
