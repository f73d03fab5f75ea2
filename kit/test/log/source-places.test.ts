import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourcePlaces } from '../../src/log/source-places.io.ts';

let folder: string;
let stack: string;

/** Bundles its first argument into the second one, runs that, and prints the stack of what it throws. */
const bundleAndRun = `
import { rolldown } from 'rolldown';
const [, input, file] = process.argv;
const bundle = await rolldown({ input, logLevel: 'silent' });
await bundle.write({ file, sourcemap: true, minify: true });
await import(file).catch((error) => process.stdout.write(error.stack));`;

/** Two modules, of which one throws in its fourth line. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'places-'));
  writeFileSync(join(folder, 'main.js'), "import { fail } from './fail.js';\nfail();\n");
  writeFileSync(
    join(folder, 'fail.js'),
    '\n\nexport function fail() {\n  throw new Error("x");\n}\n',
  );
  const args = [
    '--input-type=module',
    '-e',
    bundleAndRun,
    join(folder, 'main.js'),
    join(folder, 'all.mjs'),
  ];
  stack = execFileSync(process.execPath, args, { encoding: 'utf8' });
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('places of a bundle are those of its sources', () => {
  expect(stack).toContain('all.mjs:1:');
  const named = new SourcePlaces().inStack(stack);
  expect(named).not.toContain('all.mjs');
  expect(named).toContain(`${join(folder, 'fail.js')}:4:`);
  expect(named).toContain(`${join(folder, 'main.js')}:2:`);
});

test('a stack without a map stays as it is', () => {
  rmSync(join(folder, 'all.mjs.map'));
  expect(new SourcePlaces().inStack(stack)).toBe(stack);
});
