import {
  type ConfigOf,
  redisCacheConnection,
  type redisCacheFields,
  type redisFields,
} from '@pm/kit/config';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import { openRedis, watchRedisServer } from '@pm/kit/redis';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import { redisKeys } from '@pm/schemas/redis/keys';
import { countFullRetries, IdempotencyKeys } from './idempotency-keys.io.ts';
import { UsedProofs } from './used-proofs.io.ts';

/**
 * Data that all ingress processes keep for a time, in the Redis for such data; the rate limits of ingress have a Redis
 * connection of their own.
 */
export function openHttpMemory({
  config,
  life,
  log,
  metrics,
}: {
  readonly config: ConfigOf<typeof redisFields & typeof redisCacheFields>;
  readonly life: Lifecycle;
  readonly log: Log;
  readonly metrics: Metrics;
}) {
  const cache = openRedis({ ...redisCacheConnection(config), log });
  life.onStop('redis cache', () => cache.disconnect());
  const watch = watchRedisServer({ redis: cache, server: 'cache', wantsSync: false, metrics, log });
  life.onStop('redis watch', () => watch.close());
  const keys = redisKeys(config.redisPrefix);
  const budgets = cacheBudgets(config.redisCacheBytes);
  const onFull = countFullRetries(metrics);
  return {
    cache,
    cacheBudgets: budgets,
    idempotencyKeys: new IdempotencyKeys(cache, keys, { budgets: budgets.retries, onFull }),
    usedProofs: new UsedProofs(cache, keys, budgets.usedProofsOfSet),
  };
}

export type HttpMemory = ReturnType<typeof openHttpMemory>;
