import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { type ManagedProcess, mebibyte, processEnvironment } from '../managed-process.ts';
import type { EnginePorts } from '../ports.ts';
import { askPort } from '../probes.ts';
import { replaceFile } from '../replace-file.ts';
import { StackError } from '../stack-error.ts';
import type { EngineJars } from './download-engines.ts';
import { type KafkaNode, kafkaSettings } from './kafka-settings.ts';

interface KafkaPlaces {
  readonly jars: EngineJars;
  readonly dataDir: string;
  readonly logDir: string;
}

export interface KafkaOptions extends KafkaPlaces {
  readonly port: number;
  readonly controllerPort: number;
}

export interface KafkaClusterOptions extends KafkaPlaces {
  /** Their number is final for a data folder: the voters of a quorum are part of its settings. */
  readonly nodes: readonly KafkaNode[];
}

const formatTimeoutMs = 60_000;
/** Heap of a lone broker, and of each broker of a cluster on one machine. */
const aloneHeapMebibytes = 400;
const clusterHeapMebibytes = 256;

/**
 * One broker that is its own controller, without replication: the whole log of the exchange on one
 * machine.
 */
export function kafkaBroker({ port, controllerPort, ...places }: KafkaOptions): ManagedProcess {
  const node = { id: 1, port, controllerPort };
  return nodeProcess({ ...places, nodes: [node] }, node, 'kafka');
}

/**
 * Brokers `kafka-1`, `kafka-2` ... on one machine, which are the controllers as well. Start them together: the first is
 * ready when most of them run. Most of them are enough, except at the first start, when topics get their copies. One
 * that dies is started again.
 */
export function kafkaCluster(options: KafkaClusterOptions): ManagedProcess[] {
  return options.nodes.map((node) => nodeProcess(options, node, `kafka-${node.id}`));
}

/** Numbers of brokers that a local stack may have: a quorum of two or four is worse than one of one or three. */
export const brokerCounts = [1, 3] as const;
export type BrokerCount = (typeof brokerCounts)[number];

/** Names of the processes of so many brokers. */
export function brokerNames(count: BrokerCount): readonly string[] {
  return count === 1 ? ['kafka'] : [1, 2, 3].map((id) => `kafka-${id}`);
}

/**
 * The brokers of a local stack. Throws a `StackError` for a data folder with another number of them: the voters of a
 * quorum, and the copies of its topics, are final.
 */
export function kafkaBrokers(
  places: KafkaPlaces,
  ports: EnginePorts,
  count: BrokerCount,
): ManagedProcess[] {
  const other = count === 1 ? 3 : 1;
  const [first = ''] = brokerNames(other);
  if (existsSync(join(places.dataDir, first)))
    throw new StackError(
      'BAD_DESCRIPTION',
      `the log in ${places.dataDir} belongs to ${other} brokers, which is final: start with --brokers ${other}, or ` +
        'with another data folder (--data). Nothing was changed.',
    );
  const { kafka: port, kafkaController: controllerPort } = ports;
  if (count === 1) return [kafkaBroker({ ...places, port, controllerPort })];
  const nodes = [
    { id: 1, port, controllerPort },
    { id: 2, port: ports.kafka2, controllerPort: ports.kafka2Controller },
    { id: 3, port: ports.kafka3, controllerPort: ports.kafka3Controller },
  ];
  return kafkaCluster({ ...places, nodes });
}

function nodeProcess(options: KafkaClusterOptions, node: KafkaNode, name: string): ManagedProcess {
  const { jars, dataDir, logDir, nodes } = options;
  const isAlone = nodes.length === 1;
  const folder = join(dataDir, name);
  const configFile = join(folder, 'server.properties');
  const heapMebibytes = isAlone ? aloneHeapMebibytes : clusterHeapMebibytes;
  const heap = ['-Xms128m', `-Xmx${heapMebibytes}m`, '-XX:+UseSerialGC'];
  // The optimizing compiler of three brokers would take the few processors for minutes after each start.
  const compiler = isAlone ? [] : ['-XX:TieredStopAtLevel=1'];
  return {
    name,
    command: jars.java,
    args: [...heap, ...compiler, ...javaArgs(jars), 'kafka.Kafka', configFile],
    env: processEnvironment(),
    cwd: folder,
    logFile: join(logDir, `${name}.log`),
    dependsOn: [],
    ports: [node.port, node.controllerPort, ...(node.proxied ? [node.proxied.port] : [])],
    restart: true,
    ...(isAlone ? {} : { quorum: { name: 'kafka', enough: enoughOf(options) } }),
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
    // After a kill it reads every segment that was not flushed.
    readyTimeoutMs: 600_000,
    memoryHintBytes: 300 * mebibyte,
    watchesStdin: false,
    prepare: () => prepare(options, node, folder),
    ready: () => requireBroker(node.port),
  };
}

function enoughOf({ nodes, dataDir }: KafkaClusterOptions): number {
  const isFirstStart = nodes.some(({ id }) => !isFormatted(join(dataDir, `kafka-${id}`, logName)));
  return isFirstStart ? nodes.length : Math.floor(nodes.length / 2) + 1;
}

/** Folder of the records of a broker, in its own. */
const logName = 'log';

function isFormatted(logFolder: string): boolean {
  return existsSync(join(logFolder, 'meta.properties'));
}

function javaArgs(jars: EngineJars): string[] {
  return [
    `-Dlog4j2.configurationFile=${jars.log4jConfig}`,
    '-Djava.awt.headless=true',
    '-cp',
    join(jars.kafkaLibDir, '*'),
  ];
}

/**
 * Ports may differ from run to run, so the settings are written each time; the storage is formatted
 * once.
 */
async function prepare(
  { jars, dataDir, nodes }: KafkaClusterOptions,
  node: KafkaNode,
  folder: string,
): Promise<void> {
  const logFolder = join(folder, logName);
  const configFile = join(folder, 'server.properties');
  await mkdir(logFolder, { recursive: true });
  await writeFile(configFile, kafkaSettings(node, nodes, logFolder));
  if (isFormatted(logFolder)) return;
  const clusterId = nodes.length === 1 ? newClusterId() : sharedClusterId(dataDir);
  const args = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', ...javaArgs(jars)];
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configFile];
  const result = await runCommand(jars.java, [...args, ...format], {
    env: processEnvironment(),
    timeoutMs: formatTimeoutMs,
  });
  if (result.exitCode !== 0) {
    throw new StackError('START_FAILED', `Kafka could not format ${logFolder}:\n${result.output}`);
  }
}

function newClusterId(): string {
  return randomBytes(16).toString('base64url').replace(/^-/, 'A');
}

/** Brokers are formatted one by one, perhaps in several starts, for one cluster. */
function sharedClusterId(dataDir: string): string {
  const file = join(dataDir, 'kafka-cluster-id');
  if (!existsSync(file)) replaceFile(file, newClusterId());
  return readFileSync(file, 'utf8');
}

const apiVersionsKey = 18;
const correlationId = 7;

/**
 * Requests the API versions of the broker: it responds once it processes requests, so a client can start.
 * https://kafka.apache.org/protocol#protocol_messages (request header 1, ApiVersions 0)
 */
async function requireBroker(port: number): Promise<void> {
  const request = Buffer.alloc(14);
  request.writeInt32BE(10, 0);
  request.writeInt16BE(apiVersionsKey, 4);
  request.writeInt16BE(0, 6);
  request.writeInt32BE(correlationId, 8);
  request.writeInt16BE(-1, 12);
  const response = await askPort(port, request);
  const isResponse = response.length >= 10 && response.readInt32BE(4) === correlationId;
  if (!isResponse || response.readInt16BE(8) !== 0)
    throw new Error('the broker does not respond yet');
}
