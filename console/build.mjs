// Builds the console into console/dist when its sources, the packages it is made of or the lock file have changed, and
// fails when the first view is larger than its limit. `--force` builds in any case.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** All files that the first view loads, compressed. */
const firstViewMaxBytes = 200_000;

const room = fileURLToPath(new URL('.', import.meta.url));
const root = join(room, '..');
const dist = join(room, 'dist');
const stamp = join(dist, '.built-from');

const sources = [
  'console/src',
  'console/docs',
  'console/index.html',
  'console/build.mjs',
  'client/dist',
  'schemas/dist',
  'package-lock.json',
];

function filesIn(path) {
  if (/\.\w+$/.test(path)) return [path];
  return readdirSync(join(root, path), { recursive: true, withFileTypes: true })
    .filter(
      (entry) =>
        entry.isFile() &&
        /\.(js|tsx?|css|svg|html)$/.test(entry.name) &&
        !entry.name.endsWith('.d.ts'),
    )
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort();
}

/** Identifies everything that the build is made of. */
function sourceMark() {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of sources.flatMap(filesIn))
    hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Bytes of the files that the page itself names, compressed as they are sent. */
function firstViewBytes() {
  const page = readFileSync(join(dist, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(
    ([, file]) => file,
  );
  const sizes = [...new Set(['index.html', ...named])].map(
    (file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The page of the API: its own files and those of the published viewer, which query-api serves at /docs. */
function copyDocs() {
  const require = createRequire(import.meta.url);
  const viewer = dirname(require.resolve('swagger-ui-dist/package.json'));
  const to = join(dist, 'docs');
  cpSync(join(room, 'docs'), to, { recursive: true });
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css'])
    cpSync(join(viewer, name), join(to, name));
}

const mark = sourceMark();
const isBuilt = existsSync(stamp) && readFileSync(stamp, 'utf8') === mark;
if (!isBuilt || process.argv.includes('--force')) {
  const { build } = await import('vite');
  await build({
    root: room,
    configFile: false,
    base: '/console/',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: dist,
      emptyOutDir: true,
      target: 'es2022',
      // The policy of the page allows no data: URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
  copyDocs();
  const bytes = firstViewBytes();
  if (bytes > firstViewMaxBytes) {
    process.stderr.write(
      `console: the first view has ${bytes} bytes, more than ${firstViewMaxBytes}\n`,
    );
    process.exit(1);
  }
  writeFileSync(stamp, mark);
  process.stdout.write(`console: first view ${(bytes / 1000).toFixed(1)} kB compressed\n`);
}
