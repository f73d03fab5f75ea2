import type { Market } from '@pm/domain/markets/market';
import { outcomeOf, storedMicro } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { microText } from '@pm/schemas/decimal';
import { tables } from '@pm/schemas/tables/tables';
import { type HolderRow, holderMarketsMax, holdersMax } from './holders.ts';

/** Rows of one statement: two tokens a market. */
const rowsMax = holderMarketsMax * 2 * holdersMax;

interface Row {
  readonly market: number;
  readonly outcome: number;
  readonly wallet: string;
  readonly size: string;
}

/** Two threads: a crowded market has tens of thousands of holders, and all of them are sorted. */
const sql = `
SELECT market, outcome, wallet, size
FROM ${tables.holders.name} FINAL
WHERE market IN {markets:Array(UInt32)} AND size > 0
  AND size >= toDecimal64({min:String}, 6)
ORDER BY market, outcome, size DESC, wallet
LIMIT {perToken:UInt32} BY market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 2`;

/** No balance is larger: what the column can hold, in micro-shares. */
const balanceMaxMicro = 999_999_999_999_000_000;

/** The largest balances of each token of the markets, largest first, equal ones by wallet. */
export async function readHolders(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  markets: readonly Market[],
  bounds: { readonly limit: number; readonly minBalanceMicro: number },
): Promise<readonly HolderRow[]> {
  const rows = await clickhouse.selectRows<Row>(sql, {
    markets: markets.map(({ market }) => market),
    min: microText(Math.min(bounds.minBalanceMicro, balanceMaxMicro)),
    perToken: bounds.limit,
    rows: rowsMax,
  });
  return rows.map((row) => ({
    market: row.market,
    outcome: outcomeOf(row.outcome),
    wallet: row.wallet,
    sizeMicro: storedMicro(row.size),
  }));
}
