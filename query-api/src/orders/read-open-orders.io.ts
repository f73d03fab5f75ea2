import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { Seams } from '../recent/recent-log.ts';
import { andInFrontOf, Conditions, seamParams } from '../tables/statement.io.ts';
import type { OpenOrderRow, OpenOrderSearch } from './open-orders.ts';

interface Row {
  readonly order_id: string;
  readonly placed_ms: string;
  readonly partition: number;
  readonly version: string;
}

/**
 * The newest `count` open orders that were placed before the seams. Always from the first: those that have ended after
 * the seams are not known here, so a place in the list is known only by counting.
 */
export async function readOpenOrders(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: OpenOrderSearch,
  { seams, count }: { readonly seams: Seams; readonly count: number },
): Promise<readonly OpenOrderRow[]> {
  const where = conditionsOf(search);
  const sql = `
SELECT order_id, toUnixTimestamp64Milli(placed_at) AS placed_ms, partition, version
FROM ${tables.openOrders.name} FINAL
WHERE ${where.text} ${andInFrontOf(seams, 'version')}
ORDER BY placed_at DESC, partition DESC, version DESC, order_id
LIMIT {count:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;
  const rows = await clickhouse.selectRows<Row>(sql, {
    ...where.params,
    ...seamParams(seams),
    count,
  });
  return rows.map((row) => ({
    orderId: row.order_id,
    placedAtMs: Number(row.placed_ms),
    partition: row.partition,
    inOffset: row.version,
  }));
}

function conditionsOf({ wallets, keys, orderId, market, outcome }: OpenOrderSearch): Conditions {
  const where = new Conditions();
  where.add('wallet IN {wallets:Array(String)}', { wallets: [...wallets] });
  where.add('api_key IN {keys:Array(String)}', { keys: [...keys] });
  if (orderId !== null) where.add('order_id = {order:String}', { order: orderId });
  if (market !== null) where.add('market = {market:UInt32}', { market });
  if (outcome !== null) where.add('outcome = {outcome:UInt8}', { outcome });
  return where;
}
