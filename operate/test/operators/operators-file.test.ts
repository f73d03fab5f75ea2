import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstOperatorName, makeFirstOperator } from '@pm/deploy/setup/operators';
import { operatorOf } from '@pm/domain/operators/operators';
import { addOperator, removeOperator, shownOperators } from '../../src/operators/operators-file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'operators-'));
  file = join(folder, 'operators.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const stored = () => JSON.parse(readFileSync(file, 'utf8')).operators;

test('the token of an added operator is stored as its hash only, and finds it', () => {
  const token = addOperator(file, { name: 'ann', roles: ['catalog', 'resolver'] });
  expect(token).toMatch(/^[0-9a-f]{64}$/);
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(operatorOf(token, stored(), 0)).toMatchObject({ name: 'ann' });
  addOperator(file, { name: 'ben', roles: ['viewer'], expiresAt: '2027-01-01T00:00:00Z' });
  expect(shownOperators(file, 0)).toEqual([
    'ann  catalog,resolver',
    'ben  viewer  until 2027-01-01T00:00:00Z',
  ]);
  removeOperator(file, 'ann');
  expect(operatorOf(token, stored(), 0)).toBeNull();
});

test.each([
  [{ name: 'ann', roles: ['king'] }],
  [{ name: 'a b', roles: ['viewer'] }],
  [{ name: 'ann', roles: ['viewer'], expiresAt: 'soon' }],
  [{ name: 'ann', roles: ['viewer'], expiresAt: '2027-13-01T00:00:00Z' }],
  [{ name: 'here', roles: ['viewer'] }],
])('a wrong entry changes nothing: %j', (asked) => {
  addOperator(file, { name: 'here', roles: ['admin'] });
  const before = readFileSync(file, 'utf8');
  expect(() => addOperator(file, asked)).toThrow();
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('an unknown operator cannot be removed', () => {
  expect(() => removeOperator(file, 'ann')).toThrow('no operator ann');
});

test('a data folder gets its first operator once', () => {
  const operatorToken = 'f'.repeat(64);
  makeFirstOperator(folder, { operatorToken });
  expect(operatorOf(operatorToken, stored(), 0)).toMatchObject({
    name: firstOperatorName,
    roles: ['admin'],
  });
  removeOperator(file, firstOperatorName);
  makeFirstOperator(folder, { operatorToken });
  expect(stored()).toEqual([]);
});
