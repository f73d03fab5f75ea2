import type { EngineUrls } from '../local/engines.ts';
import { database } from '../stack/stack.ts';
import { textTable } from './text.ts';

/** Where the engines are, for who wants to look at tables, topics and keys themselves; nobody's password is shown. */
export function engineTable(urls: EngineUrls): string {
  return textTable([
    ['ClickHouse', withoutAccount(urls.clickhouse), `database ${database} (docs/data/queries.md)`],
    ['Kafka', urls.kafka, ''],
    ['schema registry', withoutAccount(urls.registry), ''],
    ['Redis', withoutAccount(urls.redis), ''],
  ]);
}

function withoutAccount(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  // A URL without a path is written with a slash, and was given without one.
  return address.endsWith('/') ? url.href : url.href.replace(/\/$/, '');
}
