import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureEngineJars } from '@pm/deploy/local/engines/download-engines';
import { defaultCacheDir } from '@pm/deploy/local/paths';
import { holdFreePorts } from '@pm/deploy/local/ports';
import type { Certificates } from '../../src/faults/certificates.ts';

/** A broker with TLS, users and ACLs: SCRAM, PLAIN and OAUTHBEARER (unsecured tokens, as Kafka has them for tests). */
export interface SecuredKafka {
  /** host:port */
  readonly broker: string;
  stop(): Promise<void>;
}

export interface SecuredKafkaOptions {
  readonly folder: string;
  readonly certificates: Certificates;
  /** Users by name, with their passwords; `admin` may do everything. */
  readonly users: Readonly<Record<string, string>>;
}

/** Resolves once the process runs; clients wait for the broker by their retries. */
export async function startSecuredKafka(options: SecuredKafkaOptions): Promise<SecuredKafka> {
  const held = await holdFreePorts(2);
  await held.release();
  const [port = 0, controllerPort = 0] = held.ports;
  const folder = join(options.folder, 'kafka');
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'server.properties');
  writeFileSync(
    configFile,
    settings(options, { port, controllerPort, logFolder: join(folder, 'log') }),
  );
  const jars = await ensureEngineJars(defaultCacheDir, () => {});
  const java = [
    `-Dlog4j2.configurationFile=${jars.log4jConfig}`,
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-cp',
    join(jars.kafkaLibDir, '*'),
  ];
  const scram = Object.entries(options.users).flatMap(([name, password]) =>
    ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
  const format = [
    'kafka.tools.StorageTool',
    'format',
    '-t',
    'securedAAAAAAAAAAAAAAA',
    '-c',
    configFile,
  ];
  execFileSync(jars.java, [...java, ...format, ...scram], { stdio: ['ignore', 'ignore', 'pipe'] });
  const output = openSync(join(folder, 'output.log'), 'w');
  const child = spawn(jars.java, ['-Xmx300m', ...java, 'kafka.Kafka', configFile], {
    stdio: ['ignore', output, output],
  });
  return { broker: `127.0.0.1:${port}`, stop: () => stopProcess(child) };
}

/** Kills a process, whose data is of no use any more, and waits for its end. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function settings(
  { certificates, users }: SecuredKafkaOptions,
  place: { readonly port: number; readonly controllerPort: number; readonly logFolder: string },
): string {
  const broker = `127.0.0.1:${place.port}`;
  const controller = `127.0.0.1:${place.controllerPort}`;
  const security = 'org.apache.kafka.common.security';
  const sasl = 'listener.name.clients';
  const passwords = Object.entries(users).map(([name, password]) => `user_${name}="${password}"`);
  const values: Record<string, string | number> = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@${controller}`,
    listeners: `CLIENTS://${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `CLIENTS://${broker}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'CLIENTS',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,CLIENTS:SASL_SSL',
    'sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512,PLAIN,OAUTHBEARER',
    'sasl.mechanism.inter.broker.protocol': 'SCRAM-SHA-512',
    [`${sasl}.scram-sha-256.sasl.jaas.config`]: `${security}.scram.ScramLoginModule required;`,
    [`${sasl}.scram-sha-512.sasl.jaas.config`]: `${security}.scram.ScramLoginModule required username="admin" password="${users['admin']}";`,
    [`${sasl}.plain.sasl.jaas.config`]: `${security}.plain.PlainLoginModule required ${passwords.join(' ')};`,
    [`${sasl}.oauthbearer.sasl.jaas.config`]: `${security}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="admin";`,
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': certificates.chainFile,
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.location': certificates.caFile,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:admin;User:ANONYMOUS',
    'log.dirs': place.logFolder,
    'offsets.topic.replication.factor': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'offsets.topic.num.partitions': 2,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    'group.min.session.timeout.ms': 1000,
    'auto.create.topics.enable': 'false',
    'log.cleaner.dedupe.buffer.size': 16 << 20,
    'message.max.bytes': 16 << 20,
    'replica.fetch.max.bytes': 16 << 20,
  };
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
