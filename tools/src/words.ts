import type { Problem } from './purity.ts';

/** Words for which the field has others (docs/glossary.md), and those. */
const replaced: readonly { readonly word: RegExp; readonly by: string }[] = [
  {
    word: /\b[dD]oors?(?:\b|(?=[A-Z]))|[a-z][D]oors?(?![a-z])/,
    by: 'listener, service or handler',
  },
  {
    word: /\b(?:type|interface|class|const) [A-Z]\w*(?:Answer|Verdict)\b/,
    by: 'a name that ends with Result, or with Response for what HTTP sends',
  },
];

/** Beginnings of a comment that mostly say nothing without the code below it. */
const unspecific = /^\s*(?:\/\*\*|\/\/|\*) (?:What|Those|Of|The same)\b/;

/** Comments of a source that do not name their subject. */
export function beginningProblems(text: string): readonly Problem[] {
  return text.split('\n').flatMap((line, index) => {
    const message = 'a comment begins with its subject, and can be read alone';
    return unspecific.test(line) ? [{ line: index + 1, message }] : [];
  });
}

/** Lines with a word that the field has another one for. */
export function wordProblems(text: string): readonly Problem[] {
  return text.split('\n').flatMap((line, index) =>
    replaced.flatMap(({ word, by }) => {
      const [found] = word.exec(line) ?? [];
      return found === undefined ? [] : [{ line: index + 1, message: `"${found}": say ${by}` }];
    }),
  );
}
