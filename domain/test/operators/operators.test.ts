import type { OperatorEntry } from '@pm/schemas/operators';
import { hashOfToken, mayUse, operatorOf, problemIn } from '../../src/operators/operators.ts';

const token = 'a'.repeat(64);
const entry = (name: string, more: Partial<OperatorEntry> = {}): OperatorEntry => ({
  name,
  roles: ['viewer'],
  tokenSha256: hashOfToken(`${name}${token}`),
  ...more,
});

test('a token finds its operator until it expires', () => {
  const ann = entry('ann', { expiresAt: '2027-01-01T00:00:00Z' });
  const operators = [ann, entry('ben')];
  const endMs = Date.parse('2027-01-01T00:00:00Z');
  expect(operatorOf(`ann${token}`, operators, endMs - 1)).toBe(ann);
  expect(operatorOf(`ann${token}`, operators, endMs)).toBeNull();
  expect(operatorOf(`ben${token}`, operators, endMs)?.name).toBe('ben');
  expect(operatorOf(token, operators, 0)).toBeNull();
  expect(operatorOf(hashOfToken(`ben${token}`), operators, 0)).toBeNull();
});

test.each([
  ['two operators are called ann', [entry('ann'), entry('ann', { tokenSha256: 'b'.repeat(64) })]],
  [
    'the token of ben is that of another operator',
    [entry('ann'), entry('ben', { tokenSha256: entry('ann').tokenSha256 })],
  ],
  ['expiresAt of ann is no time', [entry('ann', { expiresAt: '2027-13-01T00:00:00Z' })]],
])('a file is refused where %s', (problem, operators) => {
  expect(problemIn({ operators })).toBe(problem);
});

test('every operator reads, a role opens its own routes, and admin opens all', () => {
  expect(mayUse(['catalog'], 'viewer')).toBe(true);
  expect(mayUse(['viewer', 'catalog'], 'treasury')).toBe(false);
  expect(mayUse(['treasury'], 'treasury')).toBe(true);
  expect(mayUse(['admin'], 'resolver')).toBe(true);
  expect(mayUse(['resolver'], 'admin')).toBe(false);
});
