import { join, resolve } from 'node:path';
import {
  clickhousePasswordFiles,
  loadOrMakeClickhousePasswords,
  localWriter,
} from './engines/clickhouse-password.ts';
import { clickhouseServer } from './engines/clickhouse-server.ts';
import { type EngineJars, ensureEngineJars } from './engines/download-engines.ts';
import { type BrokerCount, brokerNames, kafkaBrokers } from './engines/kafka-broker.ts';
import { findRedis, redisServer } from './engines/redis-server.ts';
import { registryUrl, schemaRegistry } from './engines/schema-registry.ts';
import type { ManagedProcess, Progress } from './managed-process.ts';
import { defaultCacheDir } from './paths.ts';
import { type EnginePorts, loopback } from './ports.ts';
import type { StackError } from './stack-error.ts';
import { type Supervisor, startProcesses } from './supervisor.ts';

export interface EngineOptions {
  /** All data of all engines; a start on the same folder finds it again, also on other ports. */
  readonly dataDir: string;
  readonly logDir: string;
  readonly ports: EnginePorts;
  readonly progress: Progress;
  /** Kafka brokers; default 1. Their number is final for a data folder. */
  readonly brokers?: BrokerCount;
  /** Folder of fetched engines; `.cache` of the repository by default. */
  readonly cacheDir?: string;
  /** False lets everyone write into ClickHouse who can connect: for tests with engines of their own. Default true. */
  readonly clickhousePassword?: boolean;
  /** See `SupervisorOptions.onFatal`. */
  readonly onFatal?: (failure: StackError) => void;
}

/**
 * Variables of services and tools for engines, beside the addresses (configuration.md): what they ask of who connects,
 * and the names of topics, keys and tables.
 */
export type EngineAccess = Readonly<Record<string, string>>;

/** Addresses of the engines for clients. */
export interface EngineUrls {
  /** host:port of each broker, by commas. */
  readonly kafka: string;
  /** The Confluent API, with its path. */
  readonly registry: string;
  readonly clickhouse: string;
  readonly redis: string;
}

export interface RunningEngines {
  readonly urls: EngineUrls;
  readonly access: EngineAccess;
  /** Password of readers of the tables; null where none is asked for. */
  readonly readersPassword: string | null;
  /** Names of the processes of the engines: `kafka` or `kafka-1` to `kafka-3`, `registry`, `clickhouse`, `redis`. */
  readonly names: readonly string[];
  /** For more processes, which may depend on those. */
  readonly supervisor: Supervisor;
  /** Stops everything the supervisor runs. */
  stop(): Promise<void>;
}

export function engineUrls(ports: EnginePorts, brokers: BrokerCount = 1): EngineUrls {
  const kafkaPorts = [ports.kafka, ports.kafka2, ports.kafka3].slice(0, brokers);
  return {
    kafka: kafkaPorts.map((port) => `${loopback}:${port}`).join(),
    registry: registryUrl(ports.registry),
    clickhouse: `http://${loopback}:${ports.clickhouse}`,
    redis: `redis://${loopback}:${ports.redis}`,
  };
}

/**
 * Starts Kafka, the schema registry, ClickHouse and Redis, after fetching
 * missing files, and waits until all are ready.
 *
 * @throws StackError with a message for the terminal.
 */
export async function startEngines(options: EngineOptions): Promise<RunningEngines> {
  const { progress, onFatal, ports, brokers, clickhousePassword = true } = options;
  const dataDir = resolve(options.dataDir);
  const access = localAccess(options);
  const descriptions = await describeEngines({
    ...options,
    dataDir,
    logDir: resolve(options.logDir),
  });
  const supervisor = await startProcesses(
    { dataDir, progress, ...(onFatal === undefined ? {} : { onFatal }) },
    descriptions,
  );
  return {
    urls: engineUrls(ports, brokers),
    access,
    readersPassword: clickhousePassword ? loadOrMakeClickhousePasswords(dataDir).readers : null,
    names: descriptions.map(({ name }) => name),
    supervisor,
    stop: () => supervisor.stop(),
  };
}

/** User and password that the engines of a data folder require of clients; empty when they run without a password. */
export function localAccess({
  dataDir,
  clickhousePassword = true,
}: Pick<EngineOptions, 'dataDir' | 'clickhousePassword'>): EngineAccess {
  if (!clickhousePassword) return {};
  const { writers } = loadOrMakeClickhousePasswords(dataDir);
  return { PM_CLICKHOUSE_USER: localWriter, PM_CLICKHOUSE_PASSWORD: writers };
}

async function describeEngines(options: EngineOptions): Promise<ManagedProcess[]> {
  const jars = await ensureEngineJars(options.cacheDir ?? defaultCacheDir, options.progress);
  return engineProcesses(options, jars, await findRedis(jars, process.env['PM_REDIS']));
}

/** The processes of all engines, of these files; starts none. */
export function engineProcesses(
  options: EngineOptions,
  jars: EngineJars,
  redisCommand: string,
): ManagedProcess[] {
  const { ports, logDir, brokers = 1 } = options;
  const dataDir = join(options.dataDir, 'engines');
  const isOpen = options.clickhousePassword === false;
  const passwordFiles = isOpen ? null : clickhousePasswordFiles(options.dataDir);
  const places = { dataDir, logDir };
  return [
    ...kafkaBrokers({ ...places, jars }, ports, brokers),
    redisServer({ ...places, command: redisCommand, port: ports.redis }),
    clickhouseServer({ ...places, port: ports.clickhouse, passwordFiles }),
    schemaRegistry({
      ...places,
      jars,
      port: ports.registry,
      brokers: engineUrls(ports, brokers).kafka,
      dependsOn: brokerNames(brokers),
    }),
  ];
}
