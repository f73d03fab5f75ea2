import { setTimeout as sleep } from 'node:timers/promises';
import { kafkaConnection, registryConnection } from '@pm/kit/config';
import {
  isCompactedByMistake,
  type LogAdmin,
  type LogClient,
  openLogClient,
  type TopicSpec,
  toolLimits,
} from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRegistry, Schemas, topicName } from '@pm/kit/registry';
import type { WalletAddress } from '@pm/schemas/ids';
import { type Topic, topics } from '@pm/schemas/log/topics';
import { type Openings, readOpenings, refuseOtherFeeWallet } from '../installation/fee-wallet.ts';
import { refuseOtherKeys } from '../installation/identity.ts';
import { type Addresses, addressesOf } from '../installation/read-addresses.ts';
import { atServer } from '../installation/server.ts';
import type { EngineAccess, EngineUrls } from '../local/engines.ts';
import type { Progress } from '../local/managed-process.ts';
import { reportSlowBrokers } from './broker-settings.ts';
import type { ExchangeKeys } from './keys.ts';
import { refuseOlderLog } from './older-log.ts';
import { firstPartitions } from './partition-count.ts';
import { partitionLines } from './partition-lines.ts';
import { openPartitions, opensMore } from './partitions.ts';
import { setUpSchemas } from './schemas.ts';
import { keepOpenings, readKept, readServiceKeys, setUpServiceKeys } from './service-keys.ts';
import { setUpTables } from './tables.ts';
import { readTradingMode } from './trading-mode.ts';

export interface SetupOptions {
  readonly urls: EngineUrls;
  /** With the names of topics and tables, where they differ from the defaults. */
  readonly access?: EngineAccess;
  readonly keys: ExchangeKeys;
  /** The fee wallet of new partitions. */
  readonly feeWallet: WalletAddress;
  /** Fewest partitions of `orders` and `executions`; as many as there are when absent. */
  readonly partitions?: number | undefined;
  /** Partitions of a log that is made, unless `partitions` says so; those of local engines unless given. */
  readonly partitionsOfNew?: number;
  readonly replicationFactor: number;
  /** With a store, topics whose records it outlives may have a retention of their own (recovery.md). */
  readonly hasStore?: boolean;
  /** Topics of brokers that belong to this stack alone get the settings back that they were made with. */
  readonly ownsBrokers?: boolean;
  readonly progress: Progress;
}

/**
 * Sets up topics, schemas, partitions and tables; a repetition changes nothing. Returns the names of tables of another
 * version. Throws a `StackError`, before anything is changed, when partitions have another fee wallet or were opened
 * with other keys, and when the log is older than the tables.
 */
export async function setUpExchange(options: SetupOptions): Promise<readonly string[]> {
  return await withLog(options, async (place, addresses) => {
    const kept = await readKept({ ...place, keys: options.keys });
    refuseOther(await readOpenings(place, { kept }), options);
    await refuseLogBehindTables(place, addresses);
    await setUpLog(place, { ...options, addresses });
    return await setUpTables(addresses, options.progress);
  });
}

/**
 * Puts schemas that the log lists back into a registry that has lost them, and changes nothing else. Rejects as
 * `setUpExchange` does, and for a log that another root key has listed schemas on.
 */
export async function restoreRegistry(
  options: Pick<SetupOptions, 'urls' | 'access' | 'keys' | 'progress'>,
): Promise<void> {
  await withLog(options, async (place, addresses) => {
    await setUpSchemasOf(place, { ...options, addresses });
  });
}

/** How the log at these addresses was opened. */
export function openingsAt(engines: Pick<SetupOptions, 'urls' | 'access'>): Promise<Openings> {
  return withLog(engines, (place) => readOpenings(place));
}

/** Throws a `StackError` when partitions were opened with another key or another fee wallet than these. */
export function refuseOther(
  openings: Openings,
  { keys, feeWallet }: Pick<SetupOptions, 'keys' | 'feeWallet'>,
): void {
  refuseOtherKeys(openings, keys);
  refuseOtherFeeWallet(openings, feeWallet);
}

async function refuseLogBehindTables(
  { client, topicPrefix }: OpenedLog,
  addresses: Addresses,
): Promise<void> {
  const admin = await client.admin();
  const topic = topicName(topics.executions, topicPrefix);
  const { clickhouseDatabase: database } = addresses;
  await atServer(addresses, (clickhouse) =>
    refuseOlderLog({ admin, topic, clickhouse, database }),
  ).finally(() => admin.close());
}

interface OpenedLog {
  readonly client: LogClient;
  readonly topicPrefix: string;
}

async function withLog<T>(
  { urls, access = {} }: Pick<SetupOptions, 'urls' | 'access'>,
  work: (place: OpenedLog, addresses: Addresses) => Promise<T>,
): Promise<T> {
  const addresses = addressesOf(urls, access);
  const kafka = kafkaConnection(addresses);
  const limits = toolLimits;
  const client = openLogClient({ ...kafka, clientId: 'setup', log: silentLog, limits });
  try {
    return await work({ client, topicPrefix: addresses.topicPrefix }, addresses);
  } finally {
    await client.close();
  }
}

async function setUpLog(
  place: OpenedLog,
  options: SetupOptions & { readonly addresses: Addresses },
): Promise<void> {
  const { progress } = options;
  const { client, topicPrefix } = place;
  const admin = await client.admin();
  const partitions = await growLog(admin, place, options);
  const specs = topicSpecs({ ...options, partitions }, topicPrefix);
  const isMeant = options.ownsBrokers === true ? () => true : isCompactedByMistake;
  for (const { topic, field, wanted, found } of await admin.restoreSettings(specs, isMeant))
    progress(`topic ${topic}: ${field} was ${found}, and is ${wanted} again`);
  const hidden = await admin.ensureTopics(specs);
  progress(`topics: ${Object.keys(topics).length}, ${partitions} matching partitions`);
  if (hidden.length > 0)
    progress(`topics: the brokers do not show ${hidden.join(', ')}, which is allowed by name`);
  await reportSlowBrokers(admin, progress);
  const { keys } = options;
  const { services, sealed } = await setUpSchemasOf(place, options);
  const { schemas } = services;
  const reader = schemas.readerFor(topics.orders);
  refuseOther(await readOpenings(place, { reader, kept: sealed }), options);
  const opening = {
    client,
    admin,
    producer: await client.producer(),
    codec: await schemas.codecFor(topics.orders),
    ordersTopic: topicName(topics.orders, topicPrefix),
    partitions,
    keys,
    feeWallet: options.feeWallet,
    wasListed: (keyId: string) => sealed.isKnown(keyId),
    listedKeys: () => sealed.listedKeys,
    tradingMode: () => readTradingMode({ client, schemas, topicPrefix }),
    kept: sealed,
  };
  // An earlier set-up that stopped may have added them, or another program: it is not known when.
  if (await opensMore(opening)) await untilAssigned(progress);
  const found = await openPartitions({ ...opening, nowMs: Date.now() });
  for (const line of partitionLines(found)) progress(line);
  // Last: a key that is listed here is in every partition.
  const { listed, adopted } = await setUpServiceKeys(services, sealed);
  await keepOpenings(services, sealed, partitions);
  const older = adopted === 0 ? '' : `, ${adopted} records of an earlier version adopted`;
  progress(`service keys: ${listed} listed${older}`);
}

/**
 * The number of partitions that the topics of the log have from here on: as many as any of them, and not fewer than are
 * wanted. Kafka takes no partition away, so more than are wanted are growth.
 */
async function growLog(
  admin: LogAdmin,
  { topicPrefix }: OpenedLog,
  { partitions, partitionsOfNew = firstPartitions.local }: SetupOptions,
): Promise<number> {
  const names = Object.values<Topic>(topics)
    .filter((topic) => topic.partitions === 'matching')
    .map((topic) => topicName(topic, topicPrefix));
  const count = await admin.growTopics(names, partitions ?? 1);
  return count === 0 ? (partitions ?? partitionsOfNew) : count;
}

/** Members of groups look for added partitions every 15 s (`metadataMaxAgeMs`), and join again. */
const assignedAfterMs = 20_000;

/** Projectors have a partition before its matcher writes to it: readers of newest records would wait for them. */
async function untilAssigned(progress: Progress): Promise<void> {
  progress(`partitions were added: they are opened in ${assignedAfterMs / 1_000} s`);
  await sleep(assignedAfterMs);
}

/** The keys and schemas that the log lists, after those of this version were listed. */
async function setUpSchemasOf(
  { client, topicPrefix }: OpenedLog,
  options: Pick<SetupOptions, 'keys' | 'progress'> & { readonly addresses: Addresses },
) {
  const { keys, progress, addresses } = options;
  const services = { client, schemas: new Schemas(), topicPrefix, keys };
  const sealed = await readServiceKeys(services);
  const connection = registryConnection(addresses);
  const registry = openRegistry({ ...connection, topicPrefix, log: silentLog });
  await setUpSchemas({ ...services, registry, progress });
  return { services, sealed };
}

/** Topics whose first records checkpoints and copies of snapshots make dispensable. */
const retainedTopics: readonly Topic[] = [topics.orders, topics.executions];

/** The topics of an exchange, as set-up makes them. */
export function topicSpecs(
  options: Pick<SetupOptions, 'replicationFactor' | 'hasStore'> & { readonly partitions: number },
  topicPrefix: string,
): TopicSpec[] {
  return Object.values<Topic>(topics).map((topic) => ({
    name: topicName(topic, topicPrefix),
    partitions: topic.partitions === 'single' ? 1 : options.partitions,
    keepsPartitions: topic.partitions !== 'single',
    replicationFactor: options.replicationFactor,
    minInSyncReplicas: Math.max(1, options.replicationFactor - 1),
    compacted: topic.compacted,
    maxMessageBytes: topic.maxMessageBytes,
    retentionMs: -1,
    keepsRetention: options.hasStore === true && retainedTopics.includes(topic),
    ...(topic.compactAfterMs === undefined ? {} : { compactAfterMs: topic.compactAfterMs }),
  }));
}
