/** A piece of a document that a benchmark owns, between its markers. */
export interface Part {
  /** Name of the benchmark: `npm run bench:<name>`. */
  readonly name: string;
  readonly text: string;
  /** Before the parts of all others where the document has none of this name yet; otherwise after them. */
  readonly isFirst: boolean;
}

/** The document with this part in place of its earlier one. */
export function withPart(page: string, { name, text, isFirst }: Part): string {
  const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
  const section = `${open}\n${text}\n${close}`;
  const from = page.indexOf(open);
  const to = page.indexOf(close);
  if (from !== -1 && to > from)
    return page.slice(0, from) + section + page.slice(to + close.length);
  const others = page.indexOf('<!-- bench:');
  if (!isFirst || others === -1) return `${page.trimEnd()}\n\n${section}\n`;
  return `${page.slice(0, others)}${section}\n\n${page.slice(others)}`;
}

const widthMax = 120;

/** An item of a list of a document, in lines that are as wide as documents may be. */
export function itemText(text: string): string {
  const lines = ['-'];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= widthMax) lines[lines.length - 1] = line;
    else lines.push(`  ${word}`);
  }
  return lines.join('\n');
}
