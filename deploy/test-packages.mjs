// Packages that are published as many small ES modules, as one file each suite of tests loads: Jest loads every module
// anew in each suite, and typebox alone has four hundred.
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

/** A folder for what is installed now, built when it is missing; a name of Jest's map and its file for each package. */
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
