import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { routes } from '@pm/schemas/routes/routes';
import { withRoutesTable } from '../../src/documents/routes-table.ts';

test('docs/trading/routes.md shows every route as it is declared (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/trading/routes.md'), 'utf8');
  expect(withRoutesTable(text)).toBe(text);
  const listed = [...text.matchAll(/^\| `(\w+ \S+)`/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});
