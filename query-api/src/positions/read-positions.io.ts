import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables, type WalletAddress } from '@pm/schemas';
import { outcomeOf, storedMicro } from '../tables/numbers.ts';
import type { HeldRow } from './positions.ts';

/** Rows of one wallet that are read; the largest balances when there are more. */
const positionsMax = 20_000;

interface Row {
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
  readonly cost: string;
  readonly total_bought: string;
  readonly shares_bought: string;
  readonly realized_pnl: string;
  readonly updated: number;
}

const sql = (condition: string, order: string): string => `
SELECT market, outcome, size, cost, total_bought, shares_bought, realized_pnl,
  toUnixTimestamp(updated) AS updated
FROM ${tables.positions.name} FINAL
WHERE wallet = {wallet:String} AND ${condition}
ORDER BY ${order}, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** Whose positions, in all markets (null) or in some. */
interface PositionSearch {
  readonly wallet: WalletAddress;
  readonly markets: readonly number[] | null;
}

/** Open positions of a wallet. */
export function readPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: PositionSearch,
): Promise<readonly HeldRow[]> {
  return readRows(clickhouse, search, { condition: 'size > 0', order: 'size DESC' });
}

/** Closed positions of a wallet; the newest where there are more than are read. */
export function readClosedPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: PositionSearch,
): Promise<readonly HeldRow[]> {
  return readRows(clickhouse, search, { condition: 'size = 0', order: 'updated DESC' });
}

async function readRows(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { wallet, markets }: PositionSearch,
  { condition, order }: { readonly condition: string; readonly order: string },
): Promise<readonly HeldRow[]> {
  const filter = markets === null ? '' : ' AND market IN {markets:Array(UInt32)}';
  const rows = await clickhouse.selectRows<Row>(sql(`${condition}${filter}`, order), {
    wallet,
    rows: positionsMax,
    ...(markets === null ? {} : { markets }),
  });
  return rows.map((row) => ({
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
