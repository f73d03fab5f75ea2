import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import {
  beginPackage,
  bundle,
  dependenciesOf,
  manifestOf,
  type PackageOrigin,
  publishFields,
} from './package-folder.ts';

/** Packages that the bundle imports, and those its declarations name. */
const runtimePackages = ['@noble/curves', '@noble/hashes', 'ws', 'typebox'] as const;

/**
 * Writes the package into an empty folder: one module with what it uses of `@pm/schemas`, the declarations of both
 * rooms, README, license. Needs built rooms.
 */
export async function writeClientPackage(folder: string, origin: PackageOrigin): Promise<void> {
  const manifest = clientManifest(origin);
  beginPackage(folder, 'client', manifest);
  await bundle('client/dist/index.js', join(folder, 'dist', 'index.js'), manifest.dependencies);
  copyDeclarations('client', join(folder, 'types', 'client'));
  copyDeclarations('schemas', join(folder, 'types', 'schemas'));
}

/** `package.json` of the package: the name for other projects is not that of the room, and versions are exact. */
export function clientManifest(origin: PackageOrigin) {
  const client = manifestOf('client');
  const types = './types/client/index.d.ts';
  const code = './dist/index.js';
  return {
    name: 'prediction-exchange-client',
    version: client.version,
    description: 'Client of an open prediction-market exchange: signed orders, reads and streams.',
    keywords: ['prediction-market', 'exchange', 'orders', 'streams', 'websocket', 'eip-712'],
    license: client.license,
    ...publishFields('client', origin),
    sideEffects: false,
    exports: { '.': { types, default: code }, './package.json': './package.json' },
    // For tools that do not read `exports`.
    main: code,
    types,
    // A browser has WebSocket.
    browser: { ws: false },
    files: ['dist', 'types'],
    dependencies: dependenciesOf(runtimePackages, [manifestOf('schemas'), client]),
  };
}

function copyDeclarations(room: 'client' | 'schemas', folder: string): void {
  const from = join(repositoryRoot, room, 'dist');
  const names = readdirSync(from, { recursive: true, encoding: 'utf8' });
  for (const name of names.filter((one) => one.endsWith('.d.ts'))) {
    const file = join(folder, name);
    const up = relative(dirname(file), join(folder, '..', 'schemas'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, portable(readFileSync(join(from, name), 'utf8'), up.split(sep).join('/')));
  }
}

/**
 * Declarations as other projects read them: `.js` in imports, the contracts beside them, no types of Node, no source
 * maps.
 */
export function portable(text: string, schemasFolder: string): string {
  return text
    .replaceAll(/(['"])(\.\.?\/[^'"]+)\.ts\1/g, '$1$2.js$1')
    .replaceAll(/(['"])@pm\/schemas\/([^'"]+)\1/g, `$1${schemasFolder}/$2.js$1`)
    .replaceAll(/\bBuffer\b/g, 'Uint8Array')
    .replaceAll(/^\/\/# sourceMappingURL=.*$\n?/gm, '');
}
