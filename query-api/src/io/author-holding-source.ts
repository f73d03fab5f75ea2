import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables, type WalletAddress } from '@pm/schemas';
import type { HoldingRow } from '../core/social/holdings.ts';
import { outcomeOf, storedMicro } from '../core/stored-numbers.ts';

/** Rows of one answer; the largest balances when there are more. */
const HOLDINGS_MAX = 50_000;

interface Row {
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
}

const sql = `
SELECT wallet, market, outcome, size
FROM ${tables.positions.name} FINAL
WHERE wallet IN {wallets:Array(String)} AND market IN {markets:Array(UInt32)} AND size > 0
ORDER BY size DESC, wallet, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** What some wallets hold in some markets. */
export async function readAuthorHoldings(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  wallets: readonly WalletAddress[],
  markets: readonly number[],
): Promise<readonly HoldingRow[]> {
  const rows = await clickhouse.selectRows<Row>(sql, { wallets, markets, rows: HOLDINGS_MAX });
  return rows.map(({ wallet, market, outcome, size }) => ({
    ...{ wallet, market },
    outcome: outcomeOf(outcome),
    sizeMicro: storedMicro(size),
  }));
}
