import { AclPermissionTypes, type Kafka, ResourcePatternTypes } from 'kafkajs';
import { FetchWire } from '../../src/kafka/fetch-wire.io.ts';
import { openKafkajs } from '../../src/kafka/kafkajs-connection.io.ts';
import { failureOf } from '../../src/kafka/kafkajs-errors.ts';
import { defaultLimits } from '../../src/kafka/limits.ts';
import { silentLog } from '../../src/log/index.ts';

/** An account at a broker with TLS and SCRAM. */
export interface BrokerAccount {
  readonly broker: string;
  /** PEM. */
  readonly ca: string;
  readonly username: string;
  readonly password: string;
}

/** One operation on one topic or group by its exact name. */
export interface Allowed {
  /** `User:name` */
  readonly principal: string;
  /** As `kafka-acls.sh` names it. */
  readonly operation: string;
  readonly kind: 'topic' | 'group';
  readonly name: string;
}

/** Numbers of the protocol. */
const kinds = { topic: 2, group: 3 } as const;
const operations: Readonly<Record<string, number>> = {
  Read: 3,
  Write: 4,
  Create: 5,
  Delete: 6,
  Alter: 7,
  Describe: 8,
  DescribeConfigs: 10,
  AlterConfigs: 11,
};
const any = 1;

const limits = { ...defaultLimits, sendTimeoutMs: 100 };
const startMaxMs = 60_000;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

function kafkaOf({ broker, ca, username, password }: BrokerAccount): Kafka {
  const sasl = { mechanism: 'scram-sha-512', username, password } as const;
  const options = { brokers: [broker], clientId: 'access', log: silentLog, ssl: { ca }, sasl };
  return openKafkajs(options, limits);
}

/** Waits for the broker and adds ACLs; resolves when it lists all of them. */
export async function allowAll(account: BrokerAccount, allowed: readonly Allowed[]): Promise<void> {
  const acl = allowed.map(({ principal, operation, kind, name }) => ({
    principal,
    host: '*',
    operation: operations[operation] ?? Number.NaN,
    permissionType: AclPermissionTypes.ALLOW,
    resourceType: kinds[kind],
    resourceName: name,
    resourcePatternType: ResourcePatternTypes.LITERAL,
  }));
  const admin = kafkaOf(account).admin();
  await eventually(() => admin.connect());
  try {
    await admin.createAcls({ acl });
    await eventually(async () => {
      const filter = {
        resourceType: any,
        resourcePatternType: any,
        operation: any,
        permissionType: any,
      };
      const { resources } = await admin.describeAcls(filter as never);
      const listed = resources.reduce((sum, { acls }) => sum + acls.length, 0);
      if (listed < acl.length) throw new Error(`${listed} of ${acl.length} ACLs`);
    });
  } finally {
    await admin.disconnect();
  }
}

async function eventually(work: () => Promise<void>): Promise<void> {
  const endMs = performance.now() + startMaxMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await pause(300);
    }
  }
}

/** Type of the broker's error, `done` without one. Other failures are thrown. */
async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return 'done';
  } catch (error) {
    const { type } = failureOf(firstOf(error));
    if (type === '') throw error;
    return type;
  }
}

/** Creations of topics fail together. */
function firstOf(error: unknown): unknown {
  const all: unknown = Reflect.get(Object(error), 'errors');
  return Array.isArray(all) ? all[0] : error;
}

/** Writes a record to partition 0. */
export async function tryWrite(account: BrokerAccount, topic: string): Promise<string> {
  const producer = kafkaOf(account).producer({ allowAutoTopicCreation: false });
  await producer.connect();
  const messages = [{ value: 'foreign', partition: 0 }];
  return await outcomeOf(() => producer.send({ topic, acks: -1, messages })).finally(() =>
    producer.disconnect(),
  );
}

/** Reads the first records of partition 0. */
export async function tryRead(account: BrokerAccount, topic: string): Promise<string> {
  const wire = new FetchWire(kafkaOf(account), limits);
  const partition = 0;
  return await outcomeOf(async () => {
    await wire.connect();
    await wire.follow(topic);
    const leader = wire.leaders(topic).get(partition) ?? '';
    await wire.fetch(leader, [{ topic, partition, offset: 0 }], 100);
  }).finally(() => wire.disconnect());
}

export async function tryCreate(account: BrokerAccount, topic: string): Promise<string> {
  const admin = kafkaOf(account).admin();
  await admin.connect();
  const topics = [{ topic, numPartitions: 1, replicationFactor: 1 }];
  return await outcomeOf(() => admin.createTopics({ topics })).finally(() => admin.disconnect());
}
