import { openSealedLog } from '@pm/domain/authority/sealed-log.io';
import type { UnprovenRecord } from '@pm/domain/authority/unproven-records.io';
import type { SignOffKey } from '@pm/domain/signoff/keys';
import type { kafkaConnection, registryConnection } from '@pm/kit/config';
import type { Fault } from '@pm/kit/fault';
import { type LogClient, type LogProducer, openLogClient } from '@pm/kit/kafka';
import type { Log } from '@pm/kit/log';
import { openRegistry, topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas';

export interface LogOptions {
  readonly kafka: ReturnType<typeof kafkaConnection>;
  readonly registry: ReturnType<typeof registryConnection>;
  readonly topicPrefix: string;
  /** Raw public key that lists the keys of services. */
  readonly rootKey: string;
  /** Keys that this process seals records with. */
  readonly sealing: readonly SignOffKey[];
  readonly log: Log;
  onUnproven(record: UnprovenRecord): void;
  onFault(fault: Fault): void;
}

/** The log as this service uses it: connections, the names of topics on the broker, and the codecs of their values. */
export interface TopicsClient {
  readonly client: LogClient;
  /** For orders and cancels alone, so that nothing slow is ever in front of them. */
  readonly orders: LogProducer;
  /** For everything else. */
  readonly records: LogProducer;
  readonly names: Readonly<Record<keyof typeof topics, string>>;
  readonly codecs: Awaited<ReturnType<typeof openCodecs>>;
  /** Ends of the partitions of `executions`, from which results are read. */
  readonly executionEnds: ReadonlyMap<number, number>;
}

/** The part of it that follows and writes some of its topics. */
export interface TopicsOf<K extends keyof TopicsClient['codecs']>
  extends Pick<TopicsClient, 'client' | 'records'> {
  readonly names: Pick<TopicsClient['names'], K>;
  readonly codecs: Pick<TopicsClient['codecs'], K>;
}

/** Connects, registers the schemas and looks where the results end. Throws the faults of the kit. */
export async function openTopics(options: LogOptions): Promise<TopicsClient> {
  const { kafka, topicPrefix, log } = options;
  const client = await openSealedLog({
    ...options,
    client: openLogClient({ ...kafka, clientId: 'ingress', log }),
    registry: openRegistry({ ...options.registry, topicPrefix, log }),
    rootKey: Buffer.from(options.rootKey, 'hex'),
  });
  const name = (key: keyof typeof topics) => topicName(topics[key], topicPrefix);
  const names = {
    orders: name('orders'),
    executions: name('executions'),
    transfers: name('transfers'),
    routing: name('routing'),
    catalog: name('catalog'),
    credentials: name('credentials'),
    readKeys: name('readKeys'),
    agents: name('agents'),
    walletStatus: name('walletStatus'),
    withdrawalFreezes: name('withdrawalFreezes'),
    walletOwners: name('walletOwners'),
    notificationMarks: name('notificationMarks'),
    approvals: name('approvals'),
    audit: name('audit'),
    sessions: name('sessions'),
    comments: name('comments'),
    profiles: name('profiles'),
    deadLetters: name('deadLetters'),
    serviceKeys: name('serviceKeys'),
  };
  const codecs = await openCodecs(options);
  const admin = await client.admin();
  const bounds = await admin.bounds(names.executions).finally(() => admin.close());
  return {
    client,
    orders: await client.producer(),
    records: await client.producer(),
    names,
    codecs,
    executionEnds: new Map([...bounds].map(([partition, { high }]) => [partition, high])),
  };
}

async function openCodecs({
  registry: connection,
  topicPrefix,
  log,
}: Pick<LogOptions, 'registry' | 'topicPrefix' | 'log'>) {
  const registry = openRegistry({ ...connection, topicPrefix, log });
  return {
    orders: await registry.codecFor(topics.orders),
    executions: await registry.codecFor(topics.executions),
    transfers: await registry.codecFor(topics.transfers),
    routing: await registry.codecFor(topics.routing),
    catalog: await registry.codecFor(topics.catalog),
    credentials: await registry.codecFor(topics.credentials),
    readKeys: await registry.codecFor(topics.readKeys),
    agents: await registry.codecFor(topics.agents),
    walletStatus: await registry.codecFor(topics.walletStatus),
    withdrawalFreezes: await registry.codecFor(topics.withdrawalFreezes),
    walletOwners: await registry.codecFor(topics.walletOwners),
    sessions: await registry.codecFor(topics.sessions),
    notificationMarks: await registry.codecFor(topics.notificationMarks),
    approvals: await registry.codecFor(topics.approvals),
    audit: await registry.codecFor(topics.audit),
    comments: await registry.codecFor(topics.comments),
    profiles: await registry.codecFor(topics.profiles),
  };
}
