import { join, resolve } from 'node:path';
import { clickhouseServer } from './engines/clickhouse-server.ts';
import { ensureEngineJars } from './engines/download-engines.ts';
import { kafkaBroker } from './engines/kafka-broker.ts';
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
  /** Folder of fetched engines; `.cache` of the repository by default. */
  readonly cacheDir?: string;
  /** See `SupervisorOptions.onFatal`. */
  readonly onFatal?: (failure: StackError) => void;
}

/** Addresses of the engines for clients. */
export interface EngineUrls {
  /** host:port */
  readonly kafka: string;
  /** The Confluent API, with its path. */
  readonly registry: string;
  readonly clickhouse: string;
  readonly redis: string;
}

export interface RunningEngines {
  readonly urls: EngineUrls;
  /** For more processes, which may depend on `kafka`, `registry`, `clickhouse` and `redis`. */
  readonly supervisor: Supervisor;
  /** Stops everything the supervisor runs. */
  stop(): Promise<void>;
}

export function engineUrls(ports: EnginePorts): EngineUrls {
  return {
    kafka: `${loopback}:${ports.kafka}`,
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
  const { progress, onFatal, ports } = options;
  const dataDir = resolve(options.dataDir);
  const descriptions = await describeEngines({
    ...options,
    dataDir,
    logDir: resolve(options.logDir),
  });
  const supervisor = await startProcesses(
    { dataDir, progress, ...(onFatal === undefined ? {} : { onFatal }) },
    descriptions,
  );
  return { urls: engineUrls(ports), supervisor, stop: () => supervisor.stop() };
}

async function describeEngines(options: EngineOptions): Promise<ManagedProcess[]> {
  const { ports, logDir, progress } = options;
  const dataDir = join(options.dataDir, 'engines');
  const jars = await ensureEngineJars(options.cacheDir ?? defaultCacheDir, progress);
  const redisCommand = await findRedis(jars, process.env['PM_REDIS']);
  const places = { dataDir, logDir };
  return [
    kafkaBroker({ ...places, jars, port: ports.kafka, controllerPort: ports.kafkaController }),
    redisServer({ ...places, command: redisCommand, port: ports.redis }),
    clickhouseServer({ ...places, port: ports.clickhouse }),
    schemaRegistry({ ...places, jars, port: ports.registry, kafkaPort: ports.kafka }),
  ];
}
