import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import type { Addresses } from './read-addresses.ts';

/**
 * Works at the ClickHouse of an installation whose database may be missing: a server refuses every statement that comes
 * with the name of a missing one.
 */
export async function atServer<T>(
  addresses: Addresses,
  work: (server: ClickHouse) => Promise<T>,
): Promise<T> {
  const account = clickhouseAccount(addresses);
  const server = openClickHouse({ ...account, database: 'default', log: silentLog });
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}
