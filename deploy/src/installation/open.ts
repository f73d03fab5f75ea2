import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { type LogClient, openLogClient } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import { openRedis, type RedisClient } from '@pm/kit/redis';
import { type RedisKeys, redisKeys } from '@pm/schemas';
import type { Addresses } from './read-addresses.ts';

/** Clients of the engines of an installation, for a tool. */
export interface Installation {
  readonly addresses: Addresses;
  readonly client: LogClient;
  readonly clickhouse: ClickHouse;
  readonly redis: RedisClient;
  readonly keys: RedisKeys;
  close(): Promise<void>;
}

/** Timeout of statements over whole tables, milliseconds. */
const statementMs = 900_000;

/** Opens an installation; the first call connects. */
export function openInstallation(addresses: Addresses, tool: string): Installation {
  const brokers = addresses.kafkaBrokers;
  const client = openLogClient({ brokers, clientId: tool, log: silentLog });
  const redis = openRedis({ url: addresses.redisUrl, log: silentLog });
  const clickhouse = openClickHouse({
    ...clickhouseAccount(addresses),
    requestTimeoutMs: statementMs,
    log: silentLog,
  });
  return {
    addresses,
    client,
    clickhouse,
    redis,
    keys: redisKeys(addresses.redisPrefix),
    async close() {
      await Promise.all([client.close(), clickhouse.close()]);
      redis.disconnect();
    },
  };
}
