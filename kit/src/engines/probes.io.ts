import {
  type ConfigOf,
  kafkaConnection,
  type kafkaFields,
  redisConnection,
  type redisFields,
} from '../config/index.ts';
import { openLogClient } from '../kafka/index.ts';
import type { EngineProbe } from '../lifecycle/index.ts';
import { silentLog } from '../log/index.ts';
import { openRedis } from '../redis/index.ts';

/** The log works when every partition of these topics has a leader, whichever brokers are away. */
export function kafkaProbe(
  config: ConfigOf<typeof kafkaFields>,
  topics: readonly string[],
): EngineProbe {
  return {
    name: 'kafka',
    async probe() {
      const log = silentLog;
      const client = openLogClient({ ...kafkaConnection(config), clientId: 'waiting', log });
      try {
        const admin = await client.admin();
        for (const topic of topics) await admin.bounds(topic);
      } finally {
        await client.close();
      }
    },
  };
}

export function redisProbe(config: ConfigOf<typeof redisFields>): EngineProbe {
  return {
    name: 'redis',
    async probe() {
      const redis = openRedis({ ...redisConnection(config), log: silentLog });
      try {
        await redis.ping();
      } finally {
        redis.disconnect();
      }
    },
  };
}
