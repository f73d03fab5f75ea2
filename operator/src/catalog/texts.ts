import { type ImportRefusal, refusal, slugOf } from '@pm/domain/catalog/facts';
import { textProblem } from '@pm/domain/social/text-checks';

/** Texts that are shown by themselves, so they must say something; the other ones may be empty. */
const names = new Set(['slug', 'title', 'question', 'label', 'ticker', 'outcomes', 'tags']);
/** Texts that slugs are made of. */
const slugSources = new Set(['tags', 'series']);
const severalLines = new Set(['description']);

const lineBreak = /[\r\n\t]/;
/** Fits into a path as one part of it, and into a list between commas. */
const slugForm = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u;
const slugRule = 'takes letters, digits, - _ and . and begins with a letter or digit';

/** The first text of an entry that the catalog cannot have, and why; entries within it are not read. */
export function refusedWords(sent: object, path = ''): ImportRefusal | null {
  const texts = [...textsIn(sent)];
  for (const { name, field, text } of texts) {
    const reason = reasonAgainst(text, name);
    if (reason !== null) return refusal({ field, reason }, path);
  }
  const outcomes = texts.filter(({ name }) => name === 'outcomes').map(({ text }) => text.trim());
  const isRepeated = new Set(outcomes).size < outcomes.length;
  return isRepeated
    ? refusal({ field: 'outcomes', reason: 'are not two different names' }, path)
    : null;
}

function* textsIn(sent: object) {
  for (const [name, value] of Object.entries(sent) as [string, unknown][]) {
    if (typeof value === 'string') yield { name, field: name, text: value };
    if (!Array.isArray(value)) continue;
    for (const [index, text] of value.entries()) {
      if (typeof text === 'string') yield { name, field: `${name}/${index}`, text };
    }
  }
}

function reasonAgainst(text: string, name: string): string | null {
  const problem = textProblem(text, {
    min: names.has(name) ? 1 : 0,
    max: Number.POSITIVE_INFINITY,
  });
  if (problem !== null) return problem;
  if (lineBreak.test(text) && !severalLines.has(name)) return 'has line breaks or tabs';
  if (name === 'slug' && !slugForm.test(text)) return slugRule;
  const isWordless = slugSources.has(name) && text !== '' && slugOf(text) === '';
  return isWordless ? 'has no letter or digit' : null;
}
