import { openClickHouse } from '@pm/kit/clickhouse';
import { type LogClient, openLogClient, type TopicSpec } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, topicName } from '@pm/kit/registry';
import { createTableSql, leaderboardTables, tables, topics } from '@pm/schemas';
import type { EngineUrls } from '../local/engines.ts';
import type { Progress } from '../local/managed-process.ts';
import type { ExchangeKeys } from './keys.ts';
import { openPartitions } from './partitions.ts';

export interface SetupOptions {
  readonly urls: EngineUrls;
  readonly keys: ExchangeKeys;
  /** Partitions of `orders` and `executions`. */
  readonly partitions: number;
  readonly replicationFactor: number;
  readonly database: string;
  readonly topicPrefix: string;
  readonly progress: Progress;
}

/** Everything a fresh set of engines needs before the services start; run again it changes nothing. */
export async function setUpExchange(options: SetupOptions): Promise<void> {
  const client = openLogClient({
    brokers: options.urls.kafka.split(','),
    clientId: 'setup',
    log: silentLog,
  });
  try {
    await setUpLog(client, options);
    await setUpTables(options);
  } finally {
    await client.close();
  }
}

async function setUpLog(client: LogClient, options: SetupOptions): Promise<void> {
  const { progress, topicPrefix } = options;
  const admin = await client.admin();
  await admin.ensureTopics(topicSpecs(options));
  progress(`topics: ${Object.keys(topics).length}, ${options.partitions} matching partitions`);
  const registry = openRegistry({
    url: options.urls.registry,
    topicPrefix,
    log: silentLog,
  });
  await registry.registerAll();
  progress(`schemas: ${Object.keys(topics).length} registered, FULL_TRANSITIVE`);
  const opened = await openPartitions({
    client,
    admin,
    producer: await client.producer(),
    codec: await registry.codecFor(topics.orders),
    ordersTopic: topicName(topics.orders, topicPrefix),
    keys: options.keys,
    nowMs: Date.now(),
  });
  progress(`partitions: ${opened} opened, ${options.partitions - opened} kept`);
}

function topicSpecs(options: SetupOptions): TopicSpec[] {
  return Object.values(topics).map((topic) => ({
    name: topicName(topic, options.topicPrefix),
    partitions: topic.partitions === 'matching' ? options.partitions : 1,
    replicationFactor: options.replicationFactor,
    minInSyncReplicas: Math.max(1, options.replicationFactor - 1),
    compacted: topic.compacted,
    maxMessageBytes: topic.maxMessageBytes,
    retentionMs: -1,
    ...(topic.compactAfterMs === undefined ? {} : { compactAfterMs: topic.compactAfterMs }),
  }));
}

async function setUpTables(options: SetupOptions): Promise<void> {
  const { database } = options;
  const clickhouse = openClickHouse({
    url: options.urls.clickhouse,
    database: 'default',
    user: 'default',
    password: '',
    log: silentLog,
  });
  try {
    await clickhouse.command(`CREATE DATABASE IF NOT EXISTS \`${database}\``);
    for (const table of [...Object.values(tables), ...Object.values(leaderboardTables)]) {
      await clickhouse.command(createTableSql(table, database));
    }
  } finally {
    await clickhouse.close();
  }
  options.progress(`tables: ${Object.keys(tables).length} in database ${database}`);
}
