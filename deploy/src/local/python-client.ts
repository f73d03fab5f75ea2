import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './paths.ts';
import { StackError } from './stack-error.ts';

/** The client in Python; no workspace of npm. */
export const pythonClientRoot: string = join(repositoryRoot, 'client-python');

/** Exact versions of the tools and of all that the client needs, with the SHA-256 of each file. */
export const pythonRequirements: string = join(pythonClientRoot, 'requirements-dev.txt');

const minimum = [3, 11] as const;

/** Longest download of all packages, milliseconds. */
const installTimeoutMs = 600_000;

/** An environment with the client and its tools, or why there is none. */
export type PythonEnvironment =
  | { readonly kind: 'ready'; readonly python: string; readonly version: string }
  | { readonly kind: 'absent'; readonly reason: string };

/**
 * The environment of the client under `cacheDir`, made once per Python and list of packages. Absent without a Python or
 * its packages, which come from a registry. Throws `StackError` START_FAILED when the client itself does not install.
 */
export function installPythonClient(cacheDir: string, python3 = 'python3'): PythonEnvironment {
  const found = findPython(python3);
  if (found.kind === 'absent') return found;
  const { version } = found;
  const folder = join(cacheDir, 'python-client', 'environment');
  const python = join(folder, 'bin', 'python');
  const stamp = join(folder, '.installed-from');
  const mark = installedFrom(version);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === mark) {
    return { kind: 'ready', python, version };
  }
  const problem =
    makePythonEnvironment(folder, python3) ??
    pipInstall(python, ['--require-hashes', '-r', pythonRequirements]);
  if (problem !== null) return absent(problem);
  const own = ['--no-deps', '--no-build-isolation', '-e', pythonClientRoot];
  const failure = pipInstall(python, own);
  if (failure !== null) throw new StackError('START_FAILED', failure);
  writeFileSync(stamp, mark);
  return { kind: 'ready', python, version };
}

/** An empty environment in place of what is in the folder; null, or why it could not be made. */
export function makePythonEnvironment(folder: string, python3 = 'python3'): string | null {
  mkdirSync(folder, { recursive: true });
  return problemOf(python3, ['-m', 'venv', '--clear', folder]);
}

const quiet = ['--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];

/** Installs packages as wheels from the registry; null, or why that failed. */
export function pipInstall(python: string, packages: readonly string[]): string | null {
  return problemOf(python, ['-m', 'pip', 'install', ...quiet, ...packages]);
}

/** Fetches the pinned wheels into a folder and checks their digests; null, or why that failed. */
export function pipDownload(python: string, folder: string): string | null {
  const list = ['--require-hashes', '-r', pythonRequirements, '--dest', folder];
  return problemOf(python, ['-m', 'pip', 'download', ...quiet, ...list]);
}

const absent = (reason: string) => ({ kind: 'absent', reason }) as const;

type FoundPython =
  | { readonly kind: 'found'; readonly version: string }
  | Extract<PythonEnvironment, { kind: 'absent' }>;

function findPython(python3: string): FoundPython {
  const wanted = minimum.join('.');
  const version = outputOf(python3, 'import sys; print("%d.%d.%d" % sys.version_info[:3])');
  if (version === null) return absent(`no Python ${wanted} or newer on the PATH`);
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantMajor, wantMinor] = minimum;
  if (major < wantMajor || (major === wantMajor && minor < wantMinor)) {
    return absent(`python3 on the PATH is ${version}, and ${wanted} or newer is needed`);
  }
  // Debian and Ubuntu have them in a package of their own.
  if (outputOf(python3, 'import ensurepip, venv; print("")') === null) {
    return absent('python3 cannot make an environment: install python3-venv');
  }
  return { kind: 'found', version };
}

/** Trimmed output of a Python program; null when the program fails. */
function outputOf(python3: string, program: string): string | null {
  const { status, stdout } = spawnSync(python3, ['-c', program], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

function installedFrom(version: string): string {
  const hash = createHash('sha256').update(version).update(pythonClientRoot);
  for (const name of ['requirements-dev.txt', 'pyproject.toml']) {
    hash.update(readFileSync(join(pythonClientRoot, name)));
  }
  return hash.digest('hex');
}

/** Null, or what a failed command says is wrong: the last line of its output with an error, else the last line. */
function problemOf(command: string, args: readonly string[]): string | null {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: installTimeoutMs });
  if (result.status === 0) return null;
  const output = `${result.stdout ?? ''}${result.stderr ?? ''}${result.error?.message ?? ''}`;
  const lines = output.trim().split('\n');
  const line = lines.findLast((one) => /error:/i.test(one)) ?? lines.at(-1) ?? '';
  return `${command} ${args.slice(0, 3).join(' ')}: ${line.trim() || 'no message'}`;
}
