import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';

/** Name of the package for other projects; inside of this repository it is `@pm/client`. */
export const clientPackageName = 'prediction-exchange-client';

/** Packages that the bundle imports, and those its declarations name. */
const runtimePackages = ['@noble/curves', '@noble/hashes', 'ws', 'typebox'] as const;

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Writes the package into an empty folder: one module with what it uses of `@pm/schemas`, the declarations of both
 * rooms, README, license. Needs built rooms.
 */
export async function writeClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'dist'), { recursive: true });
  await bundle(join(folder, 'dist', 'index.js'));
  copyDeclarations('client', join(folder, 'types', 'client'));
  copyDeclarations('schemas', join(folder, 'types', 'schemas'));
  cpSync(join(repositoryRoot, 'client', 'README.md'), join(folder, 'README.md'));
  cpSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  const manifest = clientManifest(manifestOf('client'), manifestOf('schemas'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** `package.json` of the package: exact versions, no address of a repository. */
export function clientManifest(client: Manifest, schemas: Manifest) {
  const versions = { ...schemas.dependencies, ...client.dependencies };
  const dependencies = runtimePackages.map((name) => [name, versions[name] ?? ''] as const);
  return {
    name: clientPackageName,
    version: client.version,
    description: 'Client of an open prediction-market exchange: signed orders, reads and streams.',
    license: client.license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19.0' },
    exports: { '.': { types: './types/client/index.d.ts', default: './dist/index.js' } },
    // A browser has WebSocket.
    browser: { ws: false },
    files: ['dist', 'types'],
    dependencies: Object.fromEntries(dependencies),
    publishConfig: { provenance: true },
  };
}

function manifestOf(room: string): Manifest {
  return JSON.parse(readFileSync(join(repositoryRoot, room, 'package.json'), 'utf8')) as Manifest;
}

async function bundle(file: string): Promise<void> {
  const { rolldown } = await import('rolldown');
  const built = await rolldown({
    input: join(repositoryRoot, 'client', 'dist', 'index.js'),
    external: (id) => /^(node:|@noble\/|ws$|typebox)/.test(id),
    // No module of either room does anything by being imported.
    treeshake: { moduleSideEffects: false, manualPureFunctions: ['Type'] },
  });
  await built.write({ file, format: 'esm', codeSplitting: false });
  await built.close();
}

function copyDeclarations(room: 'client' | 'schemas', folder: string): void {
  const from = join(repositoryRoot, room, 'dist');
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((one) => one.endsWith('.d.ts'))) {
    const file = join(folder, name);
    const up = relative(dirname(file), join(folder, '..', 'schemas', 'index.js'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, portable(readFileSync(join(from, name), 'utf8'), up.split(sep).join('/')));
  }
}

/**
 * Declarations as other projects read them: `.js` in imports, the contracts beside them, no types of Node, no source
 * maps.
 */
export function portable(text: string, schemasPath: string): string {
  return text
    .replaceAll(/(['"])(\.\.?\/[^'"]+)\.ts\1/g, '$1$2.js$1')
    .replaceAll(/(['"])@pm\/schemas\1/g, `$1${schemasPath}$1`)
    .replaceAll(/\bBuffer\b/g, 'Uint8Array')
    .replaceAll(/^\/\/# sourceMappingURL=.*$\n?/gm, '');
}
