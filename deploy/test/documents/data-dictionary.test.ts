import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tables } from '@pm/schemas';
import { dictionary, withDataDictionary } from '../../src/documents/data-dictionary.ts';
import { repositoryRoot } from '../../src/local/paths.ts';

test('docs/data.md shows the tables and queries of the contracts (npm run docs)', () => {
  const text = readFileSync(join(repositoryRoot, 'docs/data.md'), 'utf8');
  expect(withDataDictionary(text)).toBe(text);
});

test('the dictionary explains every column, with an example', () => {
  const lines = dictionary().split('\n');
  for (const table of Object.values(tables))
    for (const { name, comment } of table.columns) {
      expect(comment.length).toBeGreaterThan(3);
      const line = lines.find((one) => one.startsWith(`| \`${name}\` |`) && one.includes(comment));
      expect([name, line?.split('|').at(-2)?.trim()]).not.toEqual([name, '']);
    }
});
