import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas';
import type { StoredHolding } from '../core/holdings.ts';
import { outcomeOf, storedMicro } from '../core/stored-numbers.ts';

/** Rows of one answer; the largest balances when there are more. */
const HOLDINGS_MAX = 20_000;

interface Row {
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
  readonly version: string;
}

const sql = (market: string): string => `
SELECT wallet, market, outcome, size, version
FROM ${tables.positions.name} FINAL
WHERE wallet IN {wallets:Array(String)} ${market}
  AND (size > 0 OR market IN {touched:Array(UInt32)})
ORDER BY size DESC, wallet, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** What wallets hold by the tables, with the version each row speaks for; of `touched` markets also what is 0 now. */
export async function readHoldings(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  asked: { readonly wallets: readonly string[]; readonly market: number | null },
  touched: readonly number[],
): Promise<readonly StoredHolding[]> {
  const { wallets, market } = asked;
  const filter = market === null ? '' : 'AND market = {market:UInt32}';
  const rows = await clickhouse.selectRows<Row>(sql(filter), {
    wallets: [...wallets],
    touched: [...touched],
    rows: HOLDINGS_MAX,
    ...(market === null ? {} : { market }),
  });
  return rows.map((row) => ({
    wallet: row.wallet,
    market: row.market,
    outcome: outcomeOf(row.outcome),
    sizeMicro: storedMicro(row.size),
    version: Number(row.version),
  }));
}
