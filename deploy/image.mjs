// Collects the files of the image: `node deploy/image.mjs FOLDER`, after a build; `--with-export` adds what `tools export`
// needs. The folder has the layout of the repository, so programs find what they load beside their bundles, and of each
// package only what it depends on.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { bundles, root } from './bundling.mjs';
import { exporting, folders, native, seldom } from './programs.mjs';

const [target, option] = process.argv.slice(2);
const withExport = option === '--with-export';
if (target === undefined || (option !== undefined && !withExport)) {
  process.stderr.write('usage: node deploy/image.mjs FOLDER [--with-export]\n');
  process.exit(1);
}
const out = resolve(target);
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;

function copy(from, to = from) {
  mkdirSync(dirname(join(out, to)), { recursive: true });
  cpSync(join(root, from), join(out, to), { recursive: true });
}

/** Where Node finds a package from another one: its own node_modules, or those of the folders above. */
function placeOf(name, from) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    const place = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (lock[place] !== undefined) return place;
    if (at === '') return null;
  }
}

/** The places of packages and of everything they depend on. */
function closureOf(names) {
  const found = new Set();
  const open = names.map((name) => ['', name]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [from, name] = next;
    const place = placeOf(name, from);
    if (place === null || found.has(place) || !existsSync(join(root, place))) continue;
    found.add(place);
    const { dependencies = {}, optionalDependencies = {} } = lock[place];
    const all = { ...dependencies, ...optionalDependencies };
    open.push(...Object.keys(all).map((one) => [place, one]));
  }
  return [...found].sort();
}

/** Types, maps and pages of packages, and the packages inside of them, which are copied by themselves. */
const leftOut = /\/(node_modules|dist-types)(\/|$)|\.(ts|mts|cts|map|md)$/;
/** Sources of packages with binaries. */
const nativeSources = native.map((name) => `/${name}/src`);

function copyPackage(place) {
  const from = join(root, place);
  const isWanted = (path) =>
    !leftOut.test(path.slice(from.length)) && !nativeSources.some((one) => path.endsWith(one));
  cpSync(from, join(out, place), { recursive: true, filter: isWanted });
}

for (const file of bundles.keys()) for (const one of [file, `${file}.map`]) copy(one);
for (const folder of folders) copy(folder);
const packages = [...seldom, ...native, ...(withExport ? exporting : [])];
for (const place of closureOf(packages)) copyPackage(place);
for (const name of ['start.mjs', 'serving.sh']) copy(`deploy/image/${name}`, name);
copy('LICENSE');
writeFileSync(join(out, 'package.json'), '{"private":true,"type":"module"}\n');
