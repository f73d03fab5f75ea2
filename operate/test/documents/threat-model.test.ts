import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';

const textOf = (name: string) => readFileSync(join(repositoryRoot, name), 'utf8');

/** Rows of the table without its head. */
const rows = textOf('docs/threat-model.md')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2);

/** The file and the title at the end of a row. */
function testOf(row: string): readonly [string, string] | null {
  const [, file, title] = /\| `([\w./-]+\.test\.ts)` "(.+)" \|$/.exec(row) ?? [];
  return file === undefined || title === undefined ? null : [file, title];
}

/** Whether the text has the title as a literal: titles hold quotes of one kind at most. */
function hasTitle(text: string, title: string): boolean {
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`));
}

test('every line of docs/threat-model.md names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(10);
  const wrong = rows.filter((row) => {
    const [file, title] = testOf(row) ?? ['', ''];
    return file === '' || !existsSync(join(repositoryRoot, file)) || !hasTitle(textOf(file), title);
  });
  expect(wrong).toEqual([]);
});

test('a title that is not in a file is found missing', () => {
  const [file = ''] = testOf(rows[0] ?? '') ?? [];
  expect(hasTitle(textOf(file), 'a title that no test has')).toBe(false);
});
