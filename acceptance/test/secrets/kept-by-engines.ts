import { openClickHouse } from '@pm/kit/clickhouse';
import { openLogClient, readRange } from '@pm/kit/kafka';
import { silentLog } from '@pm/kit/log';
import type { RedisClient } from '@pm/kit/redis';
import { topicName } from '@pm/kit/registry';
import { topics } from '@pm/schemas/log/topics';
import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';

/** All records of all topics, keys and values as texts and in hex. */
export async function allRecords(brokers: string, prefix: string): Promise<string[]> {
  const client = openLogClient({ brokers: [brokers], clientId: 'canaries', log: silentLog });
  const admin = await client.admin();
  const found: string[] = [];
  for (const one of Object.values(topics)) {
    const topic = topicName(one, prefix);
    for (const [partition, { low, high }] of await admin.bounds(topic)) {
      const range = { topic, partition, from: low, to: high, dense: false };
      await readRange(client, {
        ...range,
        onBatch: async ({ records }) => {
          for (const { key, value } of records) found.push(textsOf(key), textsOf(value));
        },
      });
    }
  }
  await admin.close();
  await client.close();
  return found;
}

function textsOf(bytes: Uint8Array | string | null): string {
  const buffer = Buffer.from(bytes ?? '');
  return `${buffer.toString('latin1')}\n${buffer.toString('hex')}`;
}

/** All rows of all tables. */
export async function allRows(url: string, database: string): Promise<string[]> {
  const options = { url, database, user: 'default', password: '', log: silentLog };
  const clickhouse = openClickHouse(options);
  const found: string[] = [];
  for (const { name } of Object.values(tables) as readonly Table[]) {
    for (const row of await clickhouse.selectRows(`SELECT * FROM ${name}`))
      found.push(JSON.stringify(row));
  }
  await clickhouse.close();
  return found;
}

/** All keys under a prefix with their values, of any type. */
export async function allValues(redis: RedisClient, prefix: string): Promise<string[]> {
  const keys = await redis.keys(`${prefix}*`);
  return await Promise.all(
    keys.map(async (key) => `${key} ${JSON.stringify(await storedAt(redis, key))}`),
  );
}

async function storedAt(redis: RedisClient, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return await redis.get(key);
    case 'hash':
      return await redis.hgetall(key);
    case 'list':
      return await redis.lrange(key, 0, -1);
    case 'set':
      return await redis.smembers(key);
    case 'zset':
      return await redis.zrange(key, 0, '-1', 'WITHSCORES');
    default:
      return null;
  }
}
