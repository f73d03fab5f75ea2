// Packages of many small ES modules, as one file for tests: Jest loads every module again in each suite, and typebox
// alone has four hundred.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

const packages = [
  'typebox',
  'typebox/compile',
  'typebox/value',
  '@noble/curves/secp256k1.js',
  '@noble/hashes/hmac.js',
  '@noble/hashes/legacy.js',
  '@noble/hashes/sha2.js',
  '@noble/hashes/sha3.js',
  '@noble/hashes/utils.js',
];

/** Names for Jest's map of modules with their files, which are built when they are missing or the lock file is another. */
export async function testPackages() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(fileURLToPath(import.meta.url)));
  const folder = join(root, '.cache/test-packages', hash.digest('hex').slice(0, 16));
  if (!existsSync(join(folder, 'built'))) await buildInto(folder);
  return Object.fromEntries(
    packages.map((name, nth) => [`^${name.replaceAll('.', '\\.')}$`, join(folder, `${nth}.cjs`)]),
  );
}

async function buildInto(folder) {
  const { rolldown } = await import('rolldown');
  mkdirSync(folder, { recursive: true });
  // Required inside of functions: a package is evaluated when a suite asks for it.
  const all = packages.map((name) => `exports['${name}'] = () => require('${name}');\n`).join('');
  const entry = join(folder, 'entry.cjs');
  writeFileSync(entry, all);
  const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'warn' });
  await bundle.write({ file: join(folder, 'all.cjs'), format: 'cjs', codeSplitting: false });
  await bundle.close();
  for (const [nth, name] of packages.entries())
    writeFileSync(
      join(folder, `${nth}.cjs`),
      `module.exports = require('./all.cjs')['${name}']();\n`,
    );
  writeFileSync(join(folder, 'built'), '');
}
