import type { Clock } from '@pm/kit/clock';
import {
  type ConfigOf,
  redisCacheConnection,
  type redisCacheFields,
  type redisFields,
} from '@pm/kit/config';
import type { Log } from '@pm/kit/log';
import { openRedis } from '@pm/kit/redis';
import { rateRules } from '@pm/schemas/rate-limits';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import type { RedisCacheKeys } from '@pm/schemas/redis/keys';
import { limitTable } from './callers.ts';
import { RateLimiter } from './limiter.io.ts';
import { LimitsInUse } from './limits-in-use.io.ts';
import { RedisLimits } from './redis-limits.io.ts';

/** Time limit of a request for its count, milliseconds; then the process counts alone. */
const countTimeoutMs = 250;

export interface OpenLimiterOptions {
  /** `publicHttpFields` of `@pm/kit/config`, and what names Redis. */
  readonly config: ConfigOf<typeof redisFields & typeof redisCacheFields> & {
    readonly rateLimits: 'on' | 'off';
    readonly rateLimitScale: number;
    readonly rateLimitAgentFactor: number;
    readonly rateLimitWalletFactor: number;
    readonly rateLimitAddressFactor: number;
    /** Factor for wallets without money, for services that know which wallets have money. */
    readonly rateLimitUnfundedFactor?: number;
    readonly httpProcesses: number;
  };
  readonly keys: Pick<RedisCacheKeys, 'limits' | 'limitsBytes' | 'limitsInUse'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenedLimiter {
  readonly limiter: RateLimiter;
  /** Facts for the operator's listener. */
  facts(): object;
  close(): void;
}

/**
 * The limiter of a service on a connection of its own, so that other commands do not delay it; null when limits are
 * off.
 */
export function openRateLimiter({
  config,
  keys,
  clock,
  log,
}: OpenLimiterOptions): OpenedLimiter | null {
  if (config.rateLimits === 'off') return null;
  const connection = redisCacheConnection(config);
  const redis = openRedis({ ...connection, log, commandTimeoutMs: countTimeoutMs });
  const limitsLog = log.child({ part: 'rate limits' });
  const inUse = new LimitsInUse(settingsText(config), { redis, keys, log: limitsLog });
  void inUse.name();
  const limiter = new RateLimiter({
    store: new RedisLimits(redis, keys, cacheBudgets(config.redisCacheBytes).limitsOfKind),
    limits: limitTable(config.rateLimitScale, {
      agent: config.rateLimitAgentFactor,
      wallet: config.rateLimitWalletFactor,
      network: config.rateLimitAddressFactor,
      unfunded: config.rateLimitUnfundedFactor ?? 1,
    }),
    processes: config.httpProcesses,
    clock,
    log: limitsLog,
  });
  return {
    limiter,
    facts: () => ({
      counted: limiter.isShared ? 'in redis' : 'in this process',
      scale: config.rateLimitScale,
      rules: rateRules.length,
      callers: limiter.callers,
      uncounted: limiter.uncounted,
    }),
    close: () => {
      inUse.close();
      redis.disconnect();
    },
  };
}

/** The settings that all services with limits have. */
function settingsText(config: OpenLimiterOptions['config']): string {
  const { rateLimitScale, rateLimitAgentFactor, rateLimitWalletFactor, rateLimitAddressFactor } =
    config;
  const factors = `agent ${rateLimitAgentFactor}, wallet ${rateLimitWalletFactor}`;
  return `scale ${rateLimitScale}, ${factors}, address ${rateLimitAddressFactor}`;
}
