import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerRuntimeClient, StartedTestContainer } from 'testcontainers';
import { parse } from 'yaml';
import { loadOrMakeClickhousePasswords } from '../local/engines/clickhouse-password.ts';
import { type EngineJars, ensureEngineJars } from '../local/engines/download-engines.ts';
import { findRedis } from '../local/engines/redis-server.ts';
import {
  type EngineAccess,
  type EngineOptions,
  type EngineUrls,
  engineProcesses,
  engineUrls,
  localAccess,
} from '../local/engines.ts';
import type { ManagedProcess } from '../local/managed-process.ts';
import { defaultCacheDir, repositoryRoot } from '../local/paths.ts';
import { isAlive } from '../local/process-table.ts';
import { messageOf, StackError } from '../local/stack-error.ts';
import {
  type EngineContainer,
  type EngineName,
  engineNames,
  ownContainer,
  publicContainers,
} from './engine-containers.ts';
import { containerRuntime, ownEngineImage } from './engine-images.ts';

/** Engines in containers that belong to this process. */
export interface ContainerEngines {
  readonly urls: EngineUrls;
  readonly access: EngineAccess;
  /** Stops and removes them. */
  stop(): Promise<void>;
}

const readyPollMs = 200;
/** Number of the process that a container belongs to. */
const ownerLabel = 'prediction-exchange.owner';

/**
 * Starts one broker, the registry, ClickHouse and Redis in containers on the network of this machine and waits until
 * they are ready: of their public images, or, where none can be pulled, of the engines' files that a local stack uses.
 *
 * @throws StackError when there is no engine of containers or no image.
 */
export async function startContainerEngines(given: EngineOptions): Promise<ContainerEngines> {
  const options = { ...given, dataDir: resolve(given.dataDir), logDir: resolve(given.logDir) };
  const runtime = await containerRuntime();
  await removeLeftOver(runtime);
  // Makes the password of ClickHouse where there is none yet.
  const access = localAccess(options);
  const engines = await describe(runtime, options);
  const started: StartedTestContainer[] = [];
  const stop = async () => {
    for (const container of started.splice(0).reverse()) await container.stop({ timeout: 10_000 });
  };
  try {
    for (const { process, container } of engines) {
      options.progress(`${process.name} in a container of ${container.image}`);
      started.push(await startContainer(process, container));
      await untilReady(process);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { urls: engineUrls(options.ports), access, stop };
}

interface Engine {
  readonly process: ManagedProcess;
  readonly container: EngineContainer;
}

/** Each engine with its container, in the order of their starts. */
async function describe(
  runtime: ContainerRuntimeClient,
  options: EngineOptions,
): Promise<readonly Engine[]> {
  const images = publicImages();
  const image = await ownEngineImage(runtime, Object.values(images), options.progress);
  if (image === null) {
    const { writers } = loadOrMakeClickhousePasswords(options.dataDir);
    const containers = publicContainers(images, options.ports, writers);
    return engineProcesses(options, noJars, 'redis-server').map((process) => ({
      process: { ...process, prepare: async () => {} },
      container: containers[process.name as EngineName],
    }));
  }
  // The engine of containers that removes what is left over is an image as well.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] = 'true';
  const cacheDir = options.cacheDir ?? defaultCacheDir;
  const jars = await ensureEngineJars(cacheDir, options.progress);
  const places = { image, dataDir: options.dataDir, cacheDir };
  return engineProcesses(options, jars, await findRedis(jars, 'bundled')).map((engine) => ({
    process: engine,
    container: ownContainer(engine, places, process.execPath),
  }));
}

/** Public images have their own files. */
const noJars: EngineJars = {
  java: 'java',
  kafkaLibDir: '',
  registryJar: '',
  bundledRedis: undefined,
  log4jConfig: '',
};

/** The images of compose.yaml, which names their versions. */
function publicImages(): Readonly<Record<EngineName, string>> {
  const text = readFileSync(join(repositoryRoot, 'compose.yaml'), 'utf8');
  const { services } = parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, { readonly image?: string }>>;
  };
  const imageOf = (name: EngineName) => services[name === 'kafka' ? 'kafka-1' : name]?.image ?? '';
  return Object.fromEntries(engineNames.map((name) => [name, imageOf(name)])) as Readonly<
    Record<EngineName, string>
  >;
}

async function startContainer(
  engine: ManagedProcess,
  { image, entrypoint, command, env, mounts, workingDir }: EngineContainer,
): Promise<StartedTestContainer> {
  const { GenericContainer } = await import('testcontainers');
  await engine.prepare();
  mkdirSync(resolve(engine.logFile, '..'), { recursive: true });
  const log = createWriteStream(engine.logFile, { flags: 'a' });
  const container = new GenericContainer(image)
    .withNetworkMode('host')
    .withCommand([...command])
    .withEnvironment({ ...env })
    .withLabels({ [ownerLabel]: String(process.pid) })
    .withStartupTimeout(engine.readyTimeoutMs)
    .withBindMounts(
      mounts.map(({ path, isWritten }) => ({
        source: path,
        target: path,
        mode: isWritten ? ('rw' as const) : ('ro' as const),
      })),
    )
    .withLogConsumer((lines) => lines.pipe(log));
  if (workingDir !== undefined) container.withWorkingDir(workingDir);
  if (entrypoint !== undefined) {
    container.withEntrypoint([...entrypoint]);
    // Their files belong to whoever runs this.
    container.withUser(`${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`);
  }
  return await container.start();
}

async function untilReady({ name, readyTimeoutMs, ready, logFile }: ManagedProcess): Promise<void> {
  const deadlineMs = performance.now() + readyTimeoutMs;
  for (;;) {
    try {
      return await ready();
    } catch (error) {
      if (performance.now() > deadlineMs)
        throw new StackError(
          'START_FAILED',
          `${name} is not ready after ${readyTimeoutMs / 1000} s (${messageOf(error)}); its log is ${logFile}`,
        );
      await sleep(readyPollMs);
    }
  }
}

/** Removes the containers of processes that have ended without stopping them. */
async function removeLeftOver({ container }: ContainerRuntimeClient): Promise<void> {
  const found = await container.dockerode.listContainers({
    all: true,
    filters: { label: [ownerLabel] },
  });
  for (const { Id, Labels } of found) {
    if (isAlive(Number(Labels[ownerLabel]))) continue;
    await container.dockerode.getContainer(Id).remove({ force: true });
  }
}
