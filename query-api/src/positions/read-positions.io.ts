import { outcomeOf, storedMicro } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { WalletAddress } from '@pm/schemas/ids';
import { tables } from '@pm/schemas/tables/tables';
import type { StoredPosition } from './newest-positions.ts';

/** Rows of one wallet that are read; the largest balances when there are more. */
const positionsMax = 20_000;

interface Row {
  readonly partition: number;
  readonly version: string;
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
  readonly cost: string;
  readonly total_bought: string;
  readonly shares_bought: string;
  readonly realized_pnl: string;
  readonly updated: number;
}

const isTouched = 'market IN {touched:Array(UInt32)}';

/** Touched rows come first: what memory has of them is added. */
const sql = (condition: string, order: string, filter: string): string => `
SELECT partition, version, market, outcome, size, cost, total_bought, shares_bought, realized_pnl,
  toUnixTimestamp(updated) AS updated
FROM ${tables.positions.name} FINAL
WHERE wallet = {wallet:String} AND (${condition} OR ${isTouched})${filter}
ORDER BY ${isTouched} DESC, ${order}, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** Whose positions, in all markets (null) or in some. */
export interface PositionSearch {
  readonly wallet: WalletAddress;
  readonly markets: readonly number[] | null;
  /** Markets of which every row is returned. */
  readonly touched: readonly number[];
}

/** Open positions of a wallet. */
export function readPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: PositionSearch,
): Promise<readonly StoredPosition[]> {
  return readRows(clickhouse, search, { condition: 'size > 0', order: 'size DESC' });
}

/** Closed positions of a wallet; the newest where there are more than are read. */
export function readClosedPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: PositionSearch,
): Promise<readonly StoredPosition[]> {
  return readRows(clickhouse, search, { condition: 'size = 0', order: 'updated DESC' });
}

async function readRows(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { wallet, markets, touched }: PositionSearch,
  { condition, order }: { readonly condition: string; readonly order: string },
): Promise<readonly StoredPosition[]> {
  const filter = markets === null ? '' : ' AND market IN {markets:Array(UInt32)}';
  const rows = await clickhouse.selectRows<Row>(sql(condition, order, filter), {
    wallet,
    touched: [...touched],
    rows: positionsMax,
    ...(markets === null ? {} : { markets }),
  });
  return rows.map((row) => ({
    partition: row.partition,
    version: Number(row.version),
    market: row.market,
    outcome: outcomeOf(row.outcome),
    sizeMicro: storedMicro(row.size),
    costMicro: storedMicro(row.cost),
    totalBoughtMicro: storedMicro(row.total_bought),
    sharesBoughtMicro: storedMicro(row.shares_bought),
    realizedMicro: storedMicro(row.realized_pnl),
    updatedS: row.updated,
  }));
}
