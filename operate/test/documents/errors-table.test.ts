import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withErrorsTable } from '../../src/documents/errors-table.ts';

test('docs/trading/errors.md shows the closed list of the contracts (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/trading/errors.md'), 'utf8');
  expect(withErrorsTable(text)).toBe(text);
});
