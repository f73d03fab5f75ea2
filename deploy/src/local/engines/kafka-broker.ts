import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../command.ts';
import { type ManagedProcess, mebibyte, processEnvironment } from '../managed-process.ts';
import { loopback } from '../ports.ts';
import { askPort } from '../probes.ts';
import { StackError } from '../stack-error.ts';
import type { EngineJars } from './download-engines.ts';

export interface KafkaOptions {
  readonly jars: EngineJars;
  readonly dataDir: string;
  readonly logDir: string;
  readonly port: number;
  readonly controllerPort: number;
}

const formatTimeoutMs = 60_000;
const maxMessageBytes = 16 * mebibyte;

/**
 * One broker that is its own controller, without replication: the whole log of the exchange on one
 * machine.
 */
export function kafkaBroker(options: KafkaOptions): ManagedProcess {
  const folder = join(options.dataDir, 'kafka');
  const configFile = join(folder, 'server.properties');
  const heap = ['-Xms128m', '-Xmx400m', '-XX:+UseSerialGC'];
  return {
    name: 'kafka',
    command: options.jars.java,
    args: [...heap, ...javaArgs(options.jars), 'kafka.Kafka', configFile],
    env: processEnvironment(),
    cwd: folder,
    logFile: join(options.logDir, 'kafka.log'),
    dependsOn: [],
    ports: [options.port, options.controllerPort],
    restart: false,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
    readyTimeoutMs: 90_000,
    memoryHintBytes: 300 * mebibyte,
    watchesStdin: false,
    prepare: () => prepare(options, folder, configFile),
    ready: () => requireBroker(options.port),
  };
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
async function prepare(options: KafkaOptions, folder: string, configFile: string): Promise<void> {
  const logFolder = join(folder, 'log');
  await mkdir(logFolder, { recursive: true });
  await writeFile(configFile, settings(options, logFolder));
  if (existsSync(join(logFolder, 'meta.properties'))) return;
  const clusterId = randomBytes(16).toString('base64url').replace(/^-/, 'A');
  const args = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', ...javaArgs(options.jars)];
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configFile];
  const result = await runCommand(options.jars.java, [...args, ...format], {
    env: processEnvironment(),
    timeoutMs: formatTimeoutMs,
  });
  if (result.exitCode !== 0) {
    throw new StackError('START_FAILED', `Kafka could not format ${logFolder}:\n${result.output}`);
  }
}

function settings(options: KafkaOptions, logFolder: string): string {
  const broker = `${loopback}:${options.port}`;
  const controller = `${loopback}:${options.controllerPort}`;
  const values: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${controller}`,
    listeners: `PLAINTEXT://${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${broker}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'log.dirs': logFolder.replaceAll('\\', '\\\\'),
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    'auto.create.topics.enable': 'false',
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.num.partitions': 4,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'log.cleaner.dedupe.buffer.size': 16 * mebibyte,
    'message.max.bytes': maxMessageBytes,
    'replica.fetch.max.bytes': maxMessageBytes,
    // The log is the exchange's memory; a topic with limited retention sets it itself.
    'log.retention.ms': -1,
  };
  return `${Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n')}\n`;
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
