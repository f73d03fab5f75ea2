import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { toolsTable } from '@pm/mcp/server/tools.io';
import { renewed } from './data-dictionary.ts';

const marks = ['<!-- tools:begin (npm run docs) -->', '<!-- tools:end -->'] as const;

/** The page with its table of tools renewed. Throws a `RangeError` when marks are missing. */
export function withToolsTable(page: string): string {
  return renewed(page, marks, toolsTable());
}

const pageOf = (name: string) => readFileSync(join(repositoryRoot, 'docs', name), 'utf8');

/**
 * Pages that the MCP server serves as resources, out of the documents: its package has copies, because it may run
 * without the repository.
 */
export const agentDocuments: Readonly<Record<string, () => string>> = {
  'mcp/documents/rules.md': () =>
    withoutLinks(partOf(pageOf('trading/conventions.md'), '## 3. Orders')),
  'mcp/documents/fees.md': () =>
    withoutLinks(partOf(pageOf('trading/conventions.md'), '### 3.15 Fees')),
  'mcp/documents/limits.md': () => withoutLinks(pageOf('trading/limits.md')),
  'mcp/documents/glossary.md': () => withoutLinks(pageOf('glossary.md')),
};

/** A heading and what is below it, to the next heading of its level or of a higher one. */
function partOf(page: string, heading: string): string {
  const level = heading.indexOf(' ');
  const [, ...rest] = page.split(`${heading}\n`);
  if (rest.length !== 1) throw new RangeError(`one ${heading} is expected`);
  const [below = ''] = (rest[0] ?? '').split(new RegExp(`^#{1,${level}} `, 'm'));
  return `${heading}\n${below.trimEnd()}\n`;
}

/** Links lead out of the package; their texts stay. Marks of generated tables go. */
function withoutLinks(page: string): string {
  return page.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1').replaceAll(/<!-- .*? -->\n\n?/g, '');
}
