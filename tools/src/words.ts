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
const unspecific = /^(?:What|Those|Of|The same)\b/;

/** Comments of a source that do not name their subject. */
export function beginningProblems(text: string): readonly Problem[] {
  const lines = text.split('\n');
  const message = 'a comment begins with its subject, and can be read alone';
  return lines.flatMap((line, index) =>
    unspecific.test(beginningOf(line, lines[index - 1] ?? ''))
      ? [{ line: index + 1, message }]
      : [],
  );
}

/** The text of a line that begins a comment; empty for every other line. */
function beginningOf(line: string, before: string): string {
  const opened =
    /^\s*\/\*\* (.*)/.exec(line) ?? (before.trim() === '/**' ? /^\s*\* (.*)/.exec(line) : null);
  const single = before.trim().startsWith('//') ? null : /^\s*\/\/ (.*)/.exec(line);
  return (opened ?? single)?.[1] ?? '';
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
