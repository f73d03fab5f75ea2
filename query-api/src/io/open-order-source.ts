import type { ClickHouse, QueryParameter } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { OpenOrderRow, OpenOrderSearch } from '../core/open-orders.ts';
import type { Seams } from '../core/recent/recent-log.ts';
import { andInFrontOf, seamParams } from './seam-source.ts';

interface Row {
  readonly order_id: string;
  readonly placed_ms: string;
  readonly partition: number;
  readonly version: string;
}

/**
 * The newest `count` open orders that were placed in front of the seams. Always from the first: those that have ended behind
 * the seams are not known here, so a place in the list is known only by counting.
 */
export async function readOpenOrders(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: OpenOrderSearch,
  { seams, count }: { readonly seams: Seams; readonly count: number },
): Promise<readonly OpenOrderRow[]> {
  const { texts, params } = conditionsOf(search);
  const sql = `
SELECT order_id, toUnixTimestamp64Milli(placed_at) AS placed_ms, partition, version
FROM ${tables.openOrders.name} FINAL
WHERE ${texts.join(' AND ')} ${andInFrontOf(seams, 'version')}
ORDER BY placed_at DESC, partition DESC, version DESC, order_id
LIMIT {count:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;
  const rows = await clickhouse.selectRows<Row>(sql, { ...params, ...seamParams(seams), count });
  return rows.map((row) => ({
    orderId: row.order_id,
    placedAtMs: Number(row.placed_ms),
    partition: row.partition,
    inOffset: row.version,
  }));
}

function conditionsOf({ wallets, keys, orderId, market, outcome }: OpenOrderSearch) {
  const texts = ['wallet IN {wallets:Array(String)}', 'api_key IN {keys:Array(String)}'];
  const params: Record<string, QueryParameter> = { wallets: [...wallets], keys: [...keys] };
  const named = [
    ['order_id', 'String', orderId],
    ['market', 'UInt32', market],
    ['outcome', 'UInt8', outcome],
  ] as const;
  for (const [name, type, value] of named) {
    if (value === null) continue;
    texts.push(`${name} = {${name}:${type}}`);
    params[name] = value;
  }
  return { texts, params };
}
