import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import type { UnprovenRecord } from '@pm/domain/authority/unproven-records.io';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import {
  clickhouseAccount,
  kafkaConnection,
  redisConnection,
  registryConnection,
} from '@pm/kit/config';
import { type LogClient, openLogClient, toolLimits } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { openRegistry } from '@pm/kit/registry';
import { type RedisKeys, redisKeys } from '@pm/schemas';
import type { InstallationAddresses } from './addresses.ts';

/** Clients of the engines of an installation, for a tool. */
export interface Installation {
  readonly addresses: InstallationAddresses;
  /** Leaves out records of sealed topics that are not proved. */
  readonly client: LogClient;
  /** The same once more, with the records that are left out. Closes with the installation. */
  sealedLog(onUnproven: (record: UnprovenRecord) => void): Promise<SealedLog>;
  readonly clickhouse: ClickHouse;
  readonly redis: RedisClient;
  readonly keys: RedisKeys;
  close(): Promise<void>;
}

/** Timeout of statements over whole tables, milliseconds. */
const statementMs = 900_000;

/** Opens an installation; the first call connects. */
export function openInstallation(addresses: InstallationAddresses, tool: string): Installation {
  const kafka = kafkaConnection(addresses);
  const unchecked = openLogClient({
    ...kafka,
    clientId: tool,
    log: silentLog,
    limits: toolLimits,
  });
  const { topicPrefix } = addresses;
  const sealedLog: Installation['sealedLog'] = (onUnproven) =>
    openSealedLog({
      client: unchecked,
      registry: openRegistry({ ...registryConnection(addresses), topicPrefix, log: silentLog }),
      topicPrefix,
      rootKey: Buffer.from(addresses.rootKey, 'hex'),
      sealing: [],
      log: silentLog,
      onUnproven,
      // A tool reads each topic to an end: keys that cannot be followed stop that reading as well.
      onFault: () => {},
    });
  const redis = openRedis({ ...redisConnection(addresses), log: silentLog });
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    requestTimeoutMs: statementMs,
    log: silentLog,
  });
  return {
    addresses,
    client: openedOnUse(unchecked, () => sealedLog(() => {})),
    sealedLog,
    clickhouse,
    redis,
    keys: redisKeys(addresses.redisPrefix),
    async close() {
      await Promise.all([unchecked.close(), clickhouse.close()]);
      redis.disconnect();
    },
  };
}

/** A log that is opened with its first reader, group or producer. */
function openedOnUse(unchecked: LogClient, open: () => Promise<LogClient>): LogClient {
  let opened: Promise<LogClient> | null = null;
  const log = () => {
    opened ??= open();
    return opened;
  };
  return {
    producer: async (limits) => (await log()).producer(limits),
    reader: async (options) => (await log()).reader(options),
    group: async (options) => (await log()).group(options),
    admin: () => unchecked.admin(),
    close: () => unchecked.close(),
  };
}
