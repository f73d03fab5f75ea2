import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../../src/local/paths.ts';

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

type Packages = Readonly<Record<string, Entry>>;

const lockFiles = ['package-lock.json', 'acceptance/clients/package-lock.json'];

function packagesOf(file: string): Packages {
  const lock = JSON.parse(readFileSync(join(repositoryRoot, file), 'utf8')) as {
    packages: Packages;
  };
  return lock.packages;
}

/** The entry that Node would find for a name from the folder of a package. */
function found(packages: Packages, from: string, name: string): Entry | undefined {
  for (let folder = from; ; ) {
    const entry = packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`];
    if (entry !== undefined || folder === '') return entry;
    const parent = folder.lastIndexOf('/node_modules/');
    folder = parent < 0 ? '' : folder.slice(0, parent);
  }
}

/** Whether the entry belongs to another platform than Linux with glibc on x64 or arm64, or to the engine on arm64. */
function isUnchecked(path: string, { os, cpu = [], libc }: Entry): boolean {
  if (path === 'node_modules/@chdb/lib-linux-arm64-gnu') return true;
  const isLinux = os?.includes('linux') === true && libc?.includes('musl') !== true;
  return os !== undefined && !(isLinux && cpu.some((one) => ['x64', 'arm64'].includes(one)));
}

describe.each(lockFiles)('%s', (file) => {
  const packages = packagesOf(file);
  const installed = Object.entries(packages).filter(
    ([path, { link }]) => path.includes('node_modules/') && link !== true,
  );

  it('has every package that another one names, as `npm ci` demands on every platform', () => {
    const missing = Object.entries(packages).flatMap(([path, entry]) =>
      Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
        .filter((name) => found(packages, path, name) === undefined)
        .map((name) => `${name} of ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('has an exact version of each, and a digest of all that Linux with glibc installs', () => {
    expect(installed.filter(([, { version }]) => !/^\d+\.\d+\.\d+/.test(version ?? ''))).toEqual(
      [],
    );
    const unchecked = installed.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
    expect(unchecked.filter(([path, entry]) => !isUnchecked(path, entry))).toEqual([]);
    expect(unchecked.every(([, { optional }]) => optional === true)).toBe(true);
  });

  it('names no registry', () => {
    expect(installed.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  });
});

test('no package of the exchange asks for a newer Node than 20', () => {
  const newer = Object.entries(packagesOf('package-lock.json')).filter(([, { engines }]) =>
    /^(>=|\^|>)\s*2[1-9]/.test(engines?.node ?? ''),
  );
  expect(newer.map(([path]) => path)).toEqual([]);
});
