import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceFile } from '../../src/local/replace-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'exchange-replaced-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rightsOf = (file: string) => statSync(file).mode & 0o777;

test('a file is made with its folder, readable by its owner only, and nothing else is left', () => {
  const file = join(folder, 'made', 'in', 'secret');
  replaceFile(file, 'one');
  replaceFile(file, Buffer.from('two'));
  expect(readFileSync(file, 'utf8')).toBe('two');
  expect(rightsOf(file)).toBe(0o600);
  expect(readdirSync(join(folder, 'made', 'in'))).toEqual(['secret']);
});

test('what a process that died has left is replaced, whatever rights it has', () => {
  const file = join(folder, 'left');
  writeFileSync(`${file}.new`, 'a longer text of an earlier process', { mode: 0o444 });
  replaceFile(file, 'short', 0o400);
  expect(readFileSync(file, 'utf8')).toBe('short');
  expect(rightsOf(file)).toBe(0o400);
});

test('a write that fails leaves the file as it was', () => {
  const file = join(folder, 'kept');
  replaceFile(file, 'before');
  expect(() => replaceFile(file, 5 as unknown as string)).toThrow('must be of type string');
  expect(readFileSync(file, 'utf8')).toBe('before');
});
