import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withLimitsTables } from '../../src/documents/limits-table.ts';

test('docs/trading/limits.md shows the tables of the contracts (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/trading/limits.md'), 'utf8');
  expect(withLimitsTables(text)).toBe(text);
});
