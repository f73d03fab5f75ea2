import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { commandNotFound, runCommand } from '../command.ts';
import type { Progress } from '../managed-process.ts';
import { StackError } from '../stack-error.ts';

const requiredJava = 17;
const checkTimeoutMs = 30_000;
const installTimeoutMs = 600_000;
const debianPackages = ['openjdk-17-jre-headless', 'maven'];

/** The java command: that of JAVA_HOME if set, as with Maven, else the one on PATH. */
export function javaCommand(): string {
  const home = process.env['JAVA_HOME'];
  const inHome = home === undefined ? '' : join(home, 'bin', 'java');
  return inHome !== '' && existsSync(inHome) ? inHome : 'java';
}

/** The main version in the output of `java -version`; undefined when there is none. */
export function parseJavaVersion(output: string): number | undefined {
  const match = /version "(?:1\.)?(\d+)/.exec(output);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

async function missingJava(): Promise<string | undefined> {
  const result = await runCommand(javaCommand(), ['-version'], { timeoutMs: checkTimeoutMs });
  if (result.exitCode === commandNotFound) return `Java ${requiredJava} or newer (no java found)`;
  const version = parseJavaVersion(result.output);
  if (version !== undefined && version >= requiredJava) return undefined;
  return `Java ${requiredJava} or newer (${javaCommand()} is version ${version ?? 'unknown'})`;
}

async function missingMaven(): Promise<string | undefined> {
  const result = await runCommand('mvn', ['-v'], { timeoutMs: checkTimeoutMs });
  return result.exitCode === 0 ? undefined : 'Maven (no working mvn on PATH)';
}

async function missingTools(withMaven: boolean): Promise<string[]> {
  const found = [await missingJava(), withMaven ? await missingMaven() : undefined];
  return found.filter((tool) => tool !== undefined);
}

/**
 * Requires java (always) and mvn (only to fetch engines). On Debian as root missing tools are installed with apt-get;
 * elsewhere the error names them and how to install them.
 *
 * @throws StackError TOOL_MISSING
 */
export async function requireJavaTools(withMaven: boolean, progress: Progress): Promise<void> {
  let missing = await missingTools(withMaven);
  if (missing.length > 0 && process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    progress(`installing ${debianPackages.join(' and ')} (missing: ${missing.join(', ')})`);
    await installDebianPackages();
    missing = await missingTools(withMaven);
  }
  if (missing.length === 0) return;
  throw new StackError(
    'TOOL_MISSING',
    `missing: ${missing.join(', ')}. On Debian or Ubuntu: ` +
      `sudo apt-get install -y ${debianPackages.join(' ')}; on macOS: brew install openjdk@17 maven`,
  );
}

/**
 * Failures are ignored here: the tools are checked again afterwards, with the same advice.
 */
async function installDebianPackages(): Promise<void> {
  const env = { ...processPath(), DEBIAN_FRONTEND: 'noninteractive' };
  await runCommand('apt-get', ['update', '-q'], { env, timeoutMs: installTimeoutMs });
  const install = ['install', '-y', '-q', '--no-install-recommends', ...debianPackages];
  await runCommand('apt-get', install, { env, timeoutMs: installTimeoutMs });
}

function processPath(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '/usr/sbin:/usr/bin:/sbin:/bin',
    HOME: process.env['HOME'] ?? '/',
  };
}
