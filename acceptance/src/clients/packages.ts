import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Progress } from '@pm/deploy/local/managed-process';
import { defaultCacheDir, repositoryRoot } from '@pm/deploy/local/paths';
import { StackError } from '@pm/deploy/local/stack-error';

/** The separate package with the published clients; no workspace, so that `npm start` does not fetch them. */
export const clientsRoot: string = join(repositoryRoot, 'acceptance', 'clients');

const installTimeoutMs = 300_000;
const pythonMinimum = [3, 11] as const;

/** A Python with the published clients in it, or why there is none. */
export type PythonClients =
  | { readonly kind: 'ready'; readonly python: string }
  | { readonly kind: 'absent'; readonly reason: string };

/**
 * Fetches the npm clients into the folder, exactly those of the lock file, once per lock file.
 *
 * @throws StackError FETCH_FAILED
 */
export function installNpmClients(progress: Progress): void {
  const mark = digestOf(join(clientsRoot, 'package-lock.json'), process.versions.modules);
  const stamp = join(clientsRoot, 'node_modules', '.installed-from');
  if (isMarked(stamp, mark)) return;
  progress('clients: fetching from npm');
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const failure = failureOf('clients-npm', 'npm', args);
  if (failure !== null) throw new StackError('FETCH_FAILED', `clients from npm: ${failure}`);
  writeFileSync(stamp, mark);
}

/** Fetches the PyPI clients into a virtual environment inside the folder, once per list of requirements. */
export function installPythonClients(progress: Progress): PythonClients {
  const version = pythonVersion();
  if (version === null) return absent(`no Python ${pythonMinimum.join('.')} or newer on the PATH`);
  const requirements = join(clientsRoot, 'python', 'requirements.txt');
  const environment = join(clientsRoot, 'python', '.venv');
  const python = join(environment, 'bin', 'python');
  const stamp = join(environment, '.installed-from');
  const mark = digestOf(requirements, version);
  if (isMarked(stamp, mark)) return { kind: 'ready', python };
  progress('clients: fetching from PyPI');
  const failure =
    failureOf('clients-venv', 'python3', ['-m', 'venv', '--clear', environment]) ??
    failureOf('clients-pip', python, [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'],
      ...['--only-binary', ':all:', '--require-hashes', '-r', requirements],
    ]);
  if (failure !== null) return absent(`Python clients cannot be installed: ${failure}`);
  writeFileSync(stamp, mark);
  return { kind: 'ready', python };
}

const absent = (reason: string): PythonClients => ({ kind: 'absent', reason });

function pythonVersion(): string | null {
  const program = 'import sys; print("%d.%d.%d" % sys.version_info[:3])';
  const result = spawnSync('python3', ['-c', program], { encoding: 'utf8' });
  if (result.status !== 0) return null;
  const version = result.stdout.trim();
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [wantMajor, wantMinor] = pythonMinimum;
  return major === wantMajor && minor >= wantMinor ? version : null;
}

/** Runs a step with its output in a log file; the last line of it when the step failed. */
function failureOf(name: string, command: string, args: readonly string[]): string | null {
  mkdirSync(defaultCacheDir, { recursive: true });
  const logFile = join(defaultCacheDir, `${name}.log`);
  const log = openSync(logFile, 'w');
  const result = spawnSync(command, args, {
    cwd: clientsRoot,
    stdio: ['ignore', log, log],
    timeout: installTimeoutMs,
  });
  if (result.status === 0) return null;
  const lastLine = readFileSync(logFile, 'utf8').trim().split('\n').at(-1) ?? '';
  return `${lastLine} (all of it in ${logFile})`;
}

function digestOf(file: string, runtime: string): string {
  return createHash('sha256').update(readFileSync(file)).update(runtime).digest('hex');
}

const isMarked = (stamp: string, mark: string): boolean =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === mark;
