import { basename } from 'node:path';
import { localWriter } from '../local/engines/clickhouse-password.ts';
import { kafkaSettings } from '../local/engines/kafka-settings.ts';
import { type ManagedProcess, processEnvironment } from '../local/managed-process.ts';
import { repositoryRoot } from '../local/paths.ts';
import { type EnginePorts, loopback } from '../local/ports.ts';

/** A container with an engine: on the network of this machine, so that its ports are those of a local engine. */
export interface EngineContainer {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Folders and files of this machine, at the same paths. */
  readonly mounts: readonly { readonly path: string; readonly isWritten: boolean }[];
  readonly workingDir?: string;
}

/** A process as a container of an image that has its libraries only: its files are mounted. */
export function ownContainer(
  process: ManagedProcess,
  places: { readonly image: string; readonly dataDir: string; readonly cacheDir: string },
  node: string,
): EngineContainer {
  const inherited = Object.keys(processEnvironment());
  const isJava = basename(process.command) === 'java';
  return {
    image: places.image,
    entrypoint: [isJava ? 'java' : process.command],
    // The standard input of a container is empty.
    command: process.args.filter((arg) => arg !== '--watch-stdin'),
    env: Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !inherited.includes(name)),
    ),
    mounts: [
      { path: repositoryRoot, isWritten: false },
      { path: places.cacheDir, isWritten: false },
      { path: node, isWritten: false },
      { path: places.dataDir, isWritten: true },
    ],
    workingDir: process.cwd,
  };
}

/** Settings of the engines that their public images get as variables and arguments, by the name of the process. */
export function publicContainers(
  images: Readonly<Record<EngineName, string>>,
  ports: EnginePorts,
  clickhousePassword: string,
): Readonly<Record<EngineName, EngineContainer>> {
  const kafka = `${loopback}:${ports.kafka}`;
  const plain = { mounts: [], env: {}, command: [] };
  return {
    kafka: { ...plain, image: images.kafka, env: kafkaVariables(ports) },
    redis: {
      ...plain,
      image: images.redis,
      command: ['redis-server', '--bind', loopback, '--port', String(ports.redis), '--save', ''],
    },
    clickhouse: {
      ...plain,
      image: images.clickhouse,
      command: [
        '--',
        `--http_port=${ports.clickhouse}`,
        `--listen_host=${loopback}`,
        '--tcp_port=0',
        '--mysql_port=0',
        '--postgresql_port=0',
        '--interserver_http_port=0',
      ],
      env: {
        CLICKHOUSE_DB: 'pm',
        CLICKHOUSE_USER: localWriter,
        CLICKHOUSE_PASSWORD: clickhousePassword,
        CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT: '1',
      },
    },
    registry: {
      ...plain,
      image: images.registry,
      env: {
        QUARKUS_HTTP_HOST: loopback,
        QUARKUS_HTTP_PORT: String(ports.registry),
        APICURIO_STORAGE_KIND: 'kafkasql',
        APICURIO_KAFKASQL_BOOTSTRAP_SERVERS: kafka,
      },
    },
  };
}

/** Engines by the names of their processes. */
export const engineNames = ['kafka', 'redis', 'clickhouse', 'registry'] as const;
export type EngineName = (typeof engineNames)[number];

/** The settings of a local broker, as the image of Kafka takes them. */
function kafkaVariables({ kafka, kafkaController }: EnginePorts): Record<string, string> {
  const node = { id: 1, port: kafka, controllerPort: kafkaController };
  const lines = kafkaSettings(node, [node], '/var/lib/kafka/data').trim().split('\n');
  const pairs = lines.map((line) => {
    const at = line.indexOf('=');
    return [kafkaVariable(line.slice(0, at)), line.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** `KAFKA_LOG_DIRS` for `log.dirs`. */
export function kafkaVariable(setting: string): string {
  return `KAFKA_${setting.replaceAll('.', '_').toUpperCase()}`;
}
