import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';

/** Fields that packages take from the manifests of rooms. */
export interface RoomManifest {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Where a package comes from; a registry compares it with the provenance statement. */
export interface PackageOrigin {
  /** Address of the repository; null leaves it out. */
  readonly repository: string | null;
}

export function manifestOf(room: string): RoomManifest {
  return JSON.parse(
    readFileSync(join(repositoryRoot, room, 'package.json'), 'utf8'),
  ) as RoomManifest;
}

/** Exact versions of what a bundle imports, of the rooms that it is made of. */
export function dependenciesOf(
  names: readonly string[],
  manifests: readonly RoomManifest[],
): Readonly<Record<string, string>> {
  const versions = Object.assign({}, ...manifests.map(({ dependencies }) => dependencies));
  return Object.fromEntries(names.map((name) => [name, String(versions[name] ?? '')]));
}

/** Fields of `package.json` that all packages have. `room`: its folder in the repository. */
export function publishFields(room: string, { repository }: PackageOrigin) {
  const url = repository === null ? null : `git+${repository.replace(/(\.git)?$/, '.git')}`;
  return {
    type: 'module',
    engines: { node: '>=20.19.0' },
    ...(url === null ? {} : { repository: { type: 'git', url, directory: room } }),
    publishConfig: { access: 'public', provenance: true },
  };
}

/** Writes an empty folder with the README of a room, the license and a manifest. */
export function beginPackage(folder: string, room: string, manifest: object): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(repositoryRoot, room, 'README.md'), join(folder, 'README.md'));
  cpSync(join(repositoryRoot, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * One module of a built entry file and what it uses of this repository; packages of others stay imports. Throws when
 * it imports one that the package does not depend on.
 */
export async function bundle(
  entry: string,
  file: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<void> {
  const { rolldown } = await import('rolldown');
  const built = await rolldown({
    input: join(repositoryRoot, entry),
    external: (id) => !(id.startsWith('.') || id.startsWith('@pm/') || isAbsolute(id)),
    // No module of the rooms does anything by being imported.
    treeshake: { moduleSideEffects: false, manualPureFunctions: ['Type'] },
  });
  mkdirSync(dirname(file), { recursive: true });
  const { output } = await built.write({ file, format: 'esm', codeSplitting: false });
  await built.close();
  const [{ imports, dynamicImports }] = output;
  for (const id of [...imports, ...dynamicImports]) {
    if (id.startsWith('node:') || packageOf(id) in dependencies) continue;
    throw new Error(`${entry} imports ${id}, which the package does not depend on`);
  }
}

/** `@a/b/c` is of `@a/b`, and `d/e` of `d`. */
function packageOf(id: string): string {
  return id
    .split('/')
    .slice(0, id.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Packs a folder as `npm publish` takes it; the path of the archive. */
export function packFolder(folder: string, to: string): string {
  mkdirSync(to, { recursive: true });
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', to], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (packed.status !== 0) throw new Error(`npm pack failed: ${packed.stderr}`);
  return join(to, packed.stdout.trim());
}
