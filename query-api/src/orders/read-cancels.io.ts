import type { CancelRow, CancelSearch } from '@pm/domain/orders/cancel-search';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import type { CutoverOffsets } from '../recent/recent-log.ts';
import { beforeCutover, cutoverParams, newestFirst, placeKey } from '../tables/statement.io.ts';

interface Row {
  readonly partition: number;
  readonly in_offset: string;
  readonly event_index: number;
  readonly time_ms: string;
  readonly order_id: string;
  readonly api_key: string;
  readonly market: number;
  readonly reason: string;
}

const sql = (cutover: CutoverOffsets): string => `
SELECT partition, in_offset, event_index, toUnixTimestamp64Milli(time) AS time_ms, order_id, api_key,
  market, reason
FROM ${tables.walletCancels.name}
WHERE wallet IN {wallets:Array(String)} AND api_key IN {keys:Array(String)}
  AND time >= fromUnixTimestamp64Milli({since:Int64}) ${beforeCutover(cutover, 'in_offset')}
${newestFirst(placeKey)}
LIMIT 1 BY ${placeKey.join()}
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** The newest cancels before the cutover. */
export async function readCancels(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { wallets, keys, sinceMs, limit }: CancelSearch,
  cutover: CutoverOffsets,
): Promise<readonly CancelRow[]> {
  const rows = await clickhouse.selectRows<Row>(sql(cutover), {
    wallets: [...wallets],
    keys: [...keys],
    since: String(sinceMs),
    rows: limit,
    ...cutoverParams(cutover),
  });
  return rows.map((row) => ({
    partition: row.partition,
    inOffset: row.in_offset,
    eventIndex: row.event_index,
    timeMs: Number(row.time_ms),
    orderId: row.order_id,
    apiKey: row.api_key,
    market: row.market,
    reason: row.reason,
  }));
}

/** Markets of one answer. */
const marketsMax = 20_000;

const heldSql = `
SELECT market FROM ${tables.positions.name}
WHERE wallet IN {wallets:Array(String)}
GROUP BY market ORDER BY max(updated) DESC, market DESC
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** Markets in which one of the wallets ever held tokens, by the tables; of too many those of its latest changes. */
export async function readMarketsOf(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  wallets: readonly string[],
): Promise<readonly number[]> {
  const params = { wallets: [...wallets], rows: marketsMax };
  const rows = await clickhouse.selectRows<{ readonly market: number }>(heldSql, params);
  return rows.map(({ market }) => market);
}
