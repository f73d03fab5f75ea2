import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import { beforeCutover, Conditions, cutoverParams } from '../tables/statement.io.ts';
import type { OpenOrderRow, OpenOrderSearch } from './open-orders.ts';

interface Row {
  readonly order_id: string;
  readonly placed_ms: string;
  readonly partition: number;
  readonly version: string;
}

/** The newest `count` requested open orders that were placed before the cutover; some may have ended behind them. */
export async function readOpenOrders(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: OpenOrderSearch,
  { cutover, count }: { readonly cutover: CutoverOffsets; readonly count: number },
): Promise<readonly OpenOrderRow[]> {
  const where = conditionsOf(search);
  const sql = `
SELECT order_id, toUnixTimestamp64Milli(placed_at) AS placed_ms, partition, version
FROM ${tables.openOrders.name} FINAL
WHERE ${where.text} ${beforeCutover(cutover, 'version')}
ORDER BY placed_at DESC, partition DESC, version DESC, order_id DESC
LIMIT {count:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;
  const rows = await clickhouse.selectRows<Row>(sql, {
    ...where.params,
    ...cutoverParams(cutover),
    count,
  });
  return rows.map((row) => ({
    orderId: row.order_id,
    placedAtMs: Number(row.placed_ms),
    partition: row.partition,
    inOffset: row.version,
  }));
}

function conditionsOf(search: OpenOrderSearch): Conditions {
  const { wallets, keys, orderId, market, outcome, after } = search;
  const where = new Conditions();
  where.add('wallet IN {wallets:Array(String)}', { wallets: [...wallets] });
  where.add('api_key IN {keys:Array(String)}', { keys: [...keys] });
  if (orderId !== null) where.add('order_id = {order:String}', { order: orderId });
  if (market !== null) where.add('market = {market:UInt32}', { market });
  if (outcome !== null) where.add('outcome = {outcome:UInt8}', { outcome });
  if (after !== null) {
    where.add(
      `(placed_at, partition, version, order_id) <
  (fromUnixTimestamp64Milli({afterMs:Int64}), {afterPartition:UInt16}, {afterVersion:UInt64}, {afterOrder:String})`,
      {
        afterMs: String(after.placedAtMs),
        afterPartition: after.partition,
        afterVersion: after.inOffset,
        afterOrder: after.orderId,
      },
    );
  }
  return where;
}
