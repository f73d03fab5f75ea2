import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outageOf, refusalCodes } from '@pm/schemas/refusals';

/** Texts of all files below a folder, but this one. */
function textsIn(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('refusal-codes.test.ts'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
}

test('every refusal of ingress is shown by a test', () => {
  const sources = textsIn(join(__dirname, '../../src'));
  const tests = textsIn(join(__dirname, '..'));
  const given = refusalCodes.filter(
    (code) => sources.includes(`'${code}'`) || outageOf(code) !== undefined,
  );
  expect(given.length).toBeGreaterThan(25);
  const shown = given.filter((code) => tests.includes(`'${code}'`));
  expect(given.filter((code) => !shown.includes(code))).toEqual([]);
});
