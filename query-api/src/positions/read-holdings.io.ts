import { outcomeOf, storedMicro } from '@pm/domain/reading/numbers';
import type { ClickHouse } from '@pm/kit/clickhouse';
import { tables } from '@pm/schemas/tables/tables';
import { readInPieces } from '../tables/read-pieces.io.ts';
import type { StoredHolding } from './holdings.ts';

/** Rows of one statement; the largest balances when there are more. */
const holdingsMax = 20_000;

/** Requested holdings: of which wallets, in which markets. */
export interface HoldingsOf {
  readonly wallets: readonly string[];
  /** Null means all. */
  readonly markets: readonly number[] | null;
  /** Markets whose balances of 0 are returned too. */
  readonly touched?: readonly number[];
}

interface Row {
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
  readonly version: string;
}

const sql = (markets: string): string => `
SELECT wallet, market, outcome, size, version
FROM ${tables.positions.name} FINAL
WHERE wallet IN {wallets:Array(String)} ${markets}
  AND (size > 0 OR market IN {touched:Array(UInt32)})
ORDER BY size DESC, wallet, market, outcome
LIMIT {rows:UInt32}
SETTINGS max_execution_time = 5, max_threads = 1`;

/** Balances of wallets by the tables, with the version of each row. */
export async function readHoldings(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  { wallets, markets, touched = [] }: HoldingsOf,
): Promise<readonly StoredHolding[]> {
  const statement = sql(markets === null ? '' : 'AND market IN {markets:Array(UInt32)}');
  const common = { touched, rows: holdingsMax, ...(markets === null ? {} : { markets }) };
  return await readInPieces(wallets, async (some) => {
    const rows = await clickhouse.selectRows<Row>(statement, { ...common, wallets: some });
    return rows.map(holdingOf);
  });
}

function holdingOf({ wallet, market, outcome, size, version }: Row): StoredHolding {
  return {
    wallet,
    market,
    outcome: outcomeOf(outcome),
    sizeMicro: storedMicro(size),
    version: Number(version),
  };
}
