import type { EngineUrls } from './engines.ts';

/** An address without the account in it. */
function withoutAccount(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  // `URL` adds a slash to an address without a path.
  return address.endsWith('/') ? url.href : url.href.replace(/\/$/, '');
}

/** The addresses of engines without the accounts in them; those of Kafka have none. */
export function withoutAccounts({ kafka, registry, clickhouse, redis }: EngineUrls): EngineUrls {
  return {
    kafka,
    registry: withoutAccount(registry),
    clickhouse: withoutAccount(clickhouse),
    redis: withoutAccount(redis),
  };
}
