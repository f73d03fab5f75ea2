import net from 'node:net';
import { type ISocketFactory, Kafka, logLevel, Partitioners } from 'kafkajs';
import {
  type IncomingRecord,
  type LogClient,
  type LogClientOptions,
  type OutgoingRecord,
  openLogClient,
  readRange,
  type TopicSpec,
} from '../../src/kafka/index.ts';
import { silentLog } from '../../src/log/index.ts';
import { engineUrl } from '../engines.ts';
import type { FaultProxy } from './fault-proxy.ts';

let made = 0;

/** A name no other test and no other run uses. */
export function freshName(kind: string): string {
  made += 1;
  return `t-${kind}-${process.pid}-${Date.now().toString(36)}-${made}`;
}

/** Our client, through the proxy when there is one. */
export function testClient(options: Partial<LogClientOptions> = {}, proxy?: FaultProxy): LogClient {
  const route = proxy === undefined ? {} : { route: () => proxy.address };
  return openLogClient({
    brokers: [engineUrl('KAFKA')],
    clientId: 'test',
    log: silentLog,
    ...route,
    ...options,
  });
}

export async function freshTopic(
  client: LogClient,
  spec: Partial<TopicSpec> = {},
): Promise<string> {
  const name = spec.name ?? freshName('topic');
  const admin = await client.admin();
  await admin.ensureTopics([
    {
      name,
      partitions: 1,
      replicationFactor: 1,
      minInSyncReplicas: 1,
      compacted: false,
      maxMessageBytes: 1_048_588,
      retentionMs: -1,
      ...spec,
    },
  ]);
  await admin.close();
  return name;
}

export function outgoing(topic: string, partition: number, value: string): OutgoingRecord {
  return { topic, partition, key: null, value: Buffer.from(value) };
}

export function valuesOf(records: readonly IncomingRecord[]): string[] {
  return records.map((record) => String(record.value));
}

/** Everything one partition holds. */
export async function contentsOf(
  client: LogClient,
  topic: string,
  partition = 0,
): Promise<string[]> {
  const admin = await client.admin();
  const bounds = (await admin.bounds(topic)).get(partition);
  await admin.close();
  const values: string[] = [];
  await readRange(client, {
    topic,
    partition,
    from: bounds?.low ?? 0,
    to: bounds?.high ?? 0,
    onBatch: async ({ records }) => {
      values.push(...valuesOf(records));
    },
  });
  return values;
}

/** Bare kafkajs, to show what its naive use does. */
export function naiveKafka(proxy?: FaultProxy): Kafka {
  const socketFactory: ISocketFactory = ({ onConnect, ...address }) =>
    net.connect(proxy?.address ?? address, onConnect);
  return new Kafka({
    brokers: [engineUrl('KAFKA')],
    clientId: 'naive',
    logLevel: logLevel.NOTHING,
    requestTimeout: 3_000,
    retry: { initialRetryTime: 20, retries: 20 },
    socketFactory,
  });
}

export const naivePartitioner = Partitioners.DefaultPartitioner;
