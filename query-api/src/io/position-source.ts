import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables, type WalletAddress } from '@pm/schemas';
import type { HeldRow } from '../core/positions.ts';
import { outcomeOf, storedMicro } from '../core/stored-numbers.ts';

/** Rows of one wallet that are read; the largest balances when there are more. */
const POSITIONS_MAX = 20_000;

interface Row {
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
  readonly cost: string;
  readonly total_bought: string;
  readonly realized_pnl: string;
  readonly updated: number;
}

const sql = (filter: string): string => `
SELECT market, outcome, size, cost, total_bought, realized_pnl, toUnixTimestamp(updated) AS updated
FROM ${tables.positions.name} FINAL
WHERE wallet = {wallet:String} AND size > 0 ${filter}
ORDER BY size DESC, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** What a wallet holds, in all markets or in some. */
export async function readPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  wallet: WalletAddress,
  markets: readonly number[] | null,
): Promise<readonly HeldRow[]> {
  const filter = markets === null ? '' : 'AND market IN {markets:Array(UInt32)}';
  const rows = await clickhouse.selectRows<Row>(sql(filter), {
    wallet,
    rows: POSITIONS_MAX,
    ...(markets === null ? {} : { markets }),
  });
  return rows.map((row) => ({
    market: row.market,
    outcome: outcomeOf(row.outcome),
    sizeMicro: storedMicro(row.size),
    costMicro: storedMicro(row.cost),
    totalBoughtMicro: storedMicro(row.total_bought),
    realizedMicro: storedMicro(row.realized_pnl),
    updatedS: row.updated,
  }));
}
