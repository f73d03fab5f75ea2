import { openSealedLog, type SealedLog } from '@pm/domain/authority/sealed-log.io';
import type { UnprovenRecord } from '@pm/domain/authority/unproven-records.io';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount, kafkaConnection, redisConnection } from '@pm/kit/config';
import { type LogClient, openLogClient, toolLimits } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { Schemas } from '@pm/kit/registry';
import { type RedisKeys, redisKeys } from '@pm/schemas/redis/keys';
import type { InstallationAddresses } from './addresses.ts';
import type { LogPlace } from './fee-wallet.ts';

/** Clients of the engines of an installation, for a tool. */
export interface Installation {
  readonly addresses: InstallationAddresses;
  /** Leaves out records of sealed topics that are not proved. */
  readonly client: LogClient;
  /** Learns what is listed when it is first asked for more. */
  readonly schemas: Schemas;
  /**
   * Opens a further client like `client`, which passes the records that it leaves out to `onUnproven`. Closes with the
   * installation.
   */
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
  const place = logPlaceOf(unchecked, addresses);
  const { schemas } = place;
  const sealedLog: Installation['sealedLog'] = (onUnproven) =>
    openSealedLog({ ...keyReading(addresses), ...place, onUnproven });
  const redis = openRedis({ ...redisConnection(addresses), log: silentLog });
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    requestTimeoutMs: statementMs,
    log: silentLog,
  });
  return {
    addresses,
    client: openedOnUse(unchecked, () => sealedLog(() => {})),
    schemas,
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

/** A log whose listed schemas are read when the first of them is asked for; `client` leaves out nothing. */
export function logPlaceOf(
  client: LogClient,
  addresses: Pick<InstallationAddresses, 'topicPrefix' | 'rootKey'>,
): LogPlace {
  const schemas = new Schemas();
  const place = { client, schemas, topicPrefix: addresses.topicPrefix };
  let opening: Promise<unknown> | null = null;
  schemas.onUnknown(async () => {
    opening ??= openSealedLog({ ...keyReading(addresses), ...place }).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    await opening;
  });
  return place;
}

/** A tool reads each topic to an end: keys that cannot be followed stop that reading as well. */
function keyReading({ rootKey }: Pick<InstallationAddresses, 'rootKey'>) {
  const ignored = { onUnproven: () => {}, onFault: () => {} };
  return { rootKey: Buffer.from(rootKey, 'hex'), sealing: [], log: silentLog, ...ignored };
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
