import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './paths.ts';

/** The client in Python; no workspace of npm. */
export const pythonClientRoot: string = join(repositoryRoot, 'client-python');

const minimum = [3, 11] as const;

/** Longest download of all packages, milliseconds. */
const installTimeoutMs = 600_000;

/** An environment with the client and its tools, or why there is none. */
export type PythonEnvironment =
  | { readonly kind: 'ready'; readonly python: string; readonly version: string }
  | { readonly kind: 'absent'; readonly reason: string };

/** The environment of the client under `cacheDir`, made once per Python and list of packages. */
export function installPythonClient(cacheDir: string): PythonEnvironment {
  const version = pythonVersion();
  if (version === null) return absent(`no Python ${minimum.join('.')} or newer on the PATH`);
  const folder = join(cacheDir, 'python-client', 'environment');
  const python = join(folder, 'bin', 'python');
  const stamp = join(folder, '.installed-from');
  const mark = installedFrom(version);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === mark) {
    return { kind: 'ready', python, version };
  }
  const list = join(pythonClientRoot, 'requirements-dev.txt');
  const problem =
    makePythonEnvironment(folder) ??
    pipInstall(python, ['-r', list]) ??
    pipInstall(python, ['--no-deps', '--no-build-isolation', '-e', pythonClientRoot]);
  if (problem !== null) return absent(problem);
  writeFileSync(stamp, mark);
  return { kind: 'ready', python, version };
}

/** An empty environment in place of what is in the folder; null, or why it could not be made. */
export function makePythonEnvironment(folder: string): string | null {
  mkdirSync(folder, { recursive: true });
  return problemOf('python3', ['-m', 'venv', '--clear', folder]);
}

/** Installs packages as wheels from the registry; null, or why that failed. */
export function pipInstall(python: string, packages: readonly string[]): string | null {
  const quiet = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
  return problemOf(python, ['-m', 'pip', 'install', ...quiet, ...packages]);
}

const absent = (reason: string): PythonEnvironment => ({ kind: 'absent', reason });

function pythonVersion(): string | null {
  const program = 'import sys, venv, ensurepip; print("%d.%d.%d" % sys.version_info[:3])';
  const result = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
  if (result.status !== 0) return null;
  const version = result.stdout.trim();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantMajor, wantMinor] = minimum;
  return major > wantMajor || (major === wantMajor && minor >= wantMinor) ? version : null;
}

function installedFrom(version: string): string {
  const hash = createHash('sha256').update(version).update(pythonClientRoot);
  for (const name of ['requirements-dev.txt', 'pyproject.toml']) {
    hash.update(readFileSync(join(pythonClientRoot, name)));
  }
  return hash.digest('hex');
}

/** Null, or the last line that a failed command wrote. */
function problemOf(command: string, args: readonly string[]): string | null {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: installTimeoutMs });
  if (result.status === 0) return null;
  const lines = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`.trim();
  return `${command} ${args.slice(0, 3).join(' ')}: ${lines.split('\n').at(-1) ?? 'no message'}`;
}
