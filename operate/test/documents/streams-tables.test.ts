import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { withStreamsTables } from '../../src/documents/streams-tables.ts';

test('docs/trading/streams.md shows the tables of the declarations (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/trading/streams.md'), 'utf8');
  expect(withStreamsTables(text)).toBe(text);
});
