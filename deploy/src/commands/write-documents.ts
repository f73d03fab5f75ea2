import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withDataDictionary } from '../documents/data-dictionary.ts';
import { withErrorsTable } from '../documents/errors-table.ts';
import { withLimitsTable } from '../documents/limits-table.ts';
import { repositoryRoot } from '../local/paths.ts';

/** `npm run docs`: writes what documents repeat of the contracts. */
const documents = [
  ['docs/limits.md', withLimitsTable],
  ['docs/errors.md', withErrorsTable],
  ['docs/data.md', withDataDictionary],
] as const;

for (const [name, renew] of documents) {
  const file = join(repositoryRoot, name);
  writeFileSync(file, renew(readFileSync(file, 'utf8')));
}
