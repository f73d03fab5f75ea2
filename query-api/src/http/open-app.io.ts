import { AgentActivity, markAgents } from '@pm/domain/accounts/agent-activity.io';
import { agentCredentials } from '@pm/domain/accounts/agent-key';
import { keyCredentials, oncePerRequest } from '@pm/domain/accounts/key-credentials';
import { clockSkewMs, openKeyVerifier } from '@pm/domain/accounts/key-verifier';
import { openReaderVerifier } from '@pm/domain/accounts/reader-verifier';
import { limitRequests } from '@pm/domain/ratelimit/limit-requests.io';
import type { OpenedLimiter } from '@pm/domain/ratelimit/open-limiter.io';
import type { FollowedTopics } from '@pm/domain/reading/followed-topics.io';
import { systemClock } from '@pm/kit/clock';
import { freshnessIn, keySecretsIn } from '@pm/kit/config';
import { listenerBounds, openHttp } from '@pm/kit/http';
import type { Lifecycle } from '@pm/kit/lifecycle';
import type { Log } from '@pm/kit/log';
import type { Metrics } from '@pm/kit/metrics';
import type { RedisClient } from '@pm/kit/redis';
import type { Traces } from '@pm/kit/traces';
import { cacheBudgets } from '@pm/schemas/redis/cache';
import type { RedisKeys } from '@pm/schemas/redis/keys';
import { bodyMaxBytes } from '@pm/schemas/routes/route';
import type { QueryApiConfig } from '../config.ts';
import type { CallerDirectory } from './caller.io.ts';

/** Parts of the process that the app is made of. */
export interface AppParts {
  readonly life: Pick<Lifecycle, 'fail'>;
  readonly config: QueryApiConfig;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Redis of what is kept for a time. */
  readonly cache: RedisClient;
  readonly redisKeys: RedisKeys;
  /** Null when requests are not limited. */
  readonly limits: OpenedLimiter | null;
  /** Null while nothing is traced. */
  readonly traces: Traces | null;
}

/** The HTTP app with its limits, and what proves its callers. */
export function openApp(shared: AppParts, { keys, readKeys, agents, wallets }: FollowedTopics) {
  const { life, config, log, metrics, limits, traces } = shared;
  const freshness = freshnessIn(config);
  const secrets = keySecretsIn(config);
  const verify = oncePerRequest(
    openKeyVerifier({ keys, secrets, freshness, nowMs: systemClock.nowMs }),
  );
  const activity = new AgentActivity({
    redis: shared.cache,
    keys: shared.redisKeys,
    bytesMax: cacheBudgets(config.redisCacheBytes).agents,
    clock: systemClock,
    onFault: (error) => life.fail(error),
  });
  const byAgent = agentCredentials(agents, activity);
  const credentials = [keyCredentials(verify, keys), byAgent];
  const { maxHeaderBytes } = listenerBounds['query-api'];
  const app = openHttp({
    log,
    metrics,
    traces,
    bodyLimitBytes: bodyMaxBytes['query-api'],
    trustedProxies: config.trustedProxies,
    connectionsPerAddress: config.connectionsPerAddress,
    opensToPages: true,
    compresses: true,
    limits: { maxHeaderBytes },
    ...(limits === null ? {} : { rateLimits: limitRequests({ ...limits, credentials }) }),
  });
  if (limits === null) markAgents(app, byAgent);
  const callers: CallerDirectory = {
    verify: openReaderVerifier(verify, readKeys),
    keysOf: (wallet) => keys.keysOf(wallet),
    walletsOf: (wallet) => wallets.of(wallet),
    skewMs: (headers) => clockSkewMs(headers, { nowMs: systemClock.nowMs(), freshness }),
  };
  return { app, callers };
}
