import { splitAccount } from '@pm/kit/redis';
import type { EngineUrls } from './engines.ts';

/** The addresses of engines without the accounts in them; those of Kafka have none. */
export function withoutAccounts({ kafka, registry, clickhouse, redis }: EngineUrls): EngineUrls {
  return {
    kafka,
    registry: splitAccount(registry).address,
    clickhouse: splitAccount(clickhouse).address,
    redis: splitAccount(redis).address,
  };
}
