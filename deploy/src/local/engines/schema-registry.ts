import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ManagedProcess, mebibyte, processEnvironment } from '../managed-process.ts';
import { loopback } from '../ports.ts';
import { requireOk } from '../probes.ts';
import type { EngineJars } from './download-engines.ts';

export interface RegistryOptions {
  readonly jars: EngineJars;
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
  /** `host:port` of brokers, by commas. */
  readonly brokers: string;
  /** Names of the processes of these brokers. */
  readonly dependsOn: readonly string[];
}

/** URL of the registry's Confluent API. */
export function registryUrl(port: number): string {
  return `http://${loopback}:${port}/apis/ccompat/v7`;
}

/** Apicurio Registry. Its schemas live in Kafka, so it has no data of its own. */
export function schemaRegistry(options: RegistryOptions): ManagedProcess {
  const folder = join(options.dataDir, 'registry');
  return {
    name: 'registry',
    command: options.jars.java,
    args: [
      '-Xmx256m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Dquarkus.http.host=${loopback}`,
      `-Dquarkus.http.port=${options.port}`,
      '-Dquarkus.banner.enabled=false',
      '-Dapicurio.storage.kind=kafkasql',
      `-Dapicurio.kafkasql.bootstrap.servers=${options.brokers}`,
      '-jar',
      options.jars.registryJar,
    ],
    env: processEnvironment(),
    cwd: folder,
    logFile: join(options.logDir, 'registry.log'),
    dependsOn: options.dependsOn,
    ports: [options.port],
    restart: true,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
    readyTimeoutMs: 120_000,
    memoryHintBytes: 260 * mebibyte,
    watchesStdin: false,
    prepare: async () => {
      await mkdir(folder, { recursive: true });
    },
    ready: () => requireOk(`${registryUrl(options.port)}/subjects`),
  };
}
