import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { operatorRoutes, routes } from '@pm/schemas/routes/routes';
import { withAccessTable } from '../../src/documents/access-table.ts';

test('docs/trading/access.md shows every route with every caller (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/trading/access.md'), 'utf8');
  expect(withAccessTable(text)).toBe(text);
  const listed = [...text.matchAll(/^\| `(\w+ \S+)`/gm)].map(([, name]) => name);
  const declared = [...routes, ...Object.values(operatorRoutes)];
  expect(listed.sort()).toEqual(declared.map(({ method, path }) => `${method} ${path}`).sort());
});
