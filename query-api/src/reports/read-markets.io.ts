import { outcomeOf, storedMicro } from '@pm/domain/reading/numbers';
import type { MakerFeesRow, MarketPositionRow, SupplyRow } from '@pm/domain/reports/rows';
import { leastText } from '@pm/domain/reports/tape-query';
import type { ClickHouse } from '@pm/kit/clickhouse';
import type { WalletAddress } from '@pm/schemas/ids';
import { tables } from '@pm/schemas/tables/tables';
import type { MarketPositionsSearch } from '../positions/market-positions.ts';
import { timeBefore } from '../tables/statement.io.ts';

/** Rows as ClickHouse writes them: decimals are texts. */
interface SupplyCells {
  readonly market: number;
  readonly size0: string;
  readonly size1: string;
}

/** Shares of each token in all hands, of these markets or of all (null). */
export async function readSupply(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  markets: readonly number[] | null,
): Promise<readonly SupplyRow[]> {
  const filter = markets === null ? '' : ' AND market IN {markets:Array(UInt32)}';
  const sql = `
SELECT market, toString(sumIf(size, outcome = 0)) AS size0, toString(sumIf(size, outcome = 1)) AS size1
FROM ${tables.holders.name} FINAL
WHERE size > 0${filter}
GROUP BY market
SETTINGS max_execution_time = 10`;
  const params = markets === null ? {} : { markets: [...markets] };
  const rows = await clickhouse.selectRows<SupplyCells>(sql, params);
  return rows.map((row) => ({
    market: row.market,
    size0Micro: storedMicro(row.size0),
    size1Micro: storedMicro(row.size1),
  }));
}

interface PositionCells {
  readonly wallet: string;
  readonly outcome: number;
  readonly size: string;
  readonly cost: string;
  readonly total_bought: string;
  readonly realized_pnl: string;
}

const cash = `(toDecimal128(size, 6) *
  if(outcome = 0, toDecimal64({price0:String}, 6), toDecimal64({price1:String}, 6)) - cost)`;
const keys = {
  TOKENS: 'size',
  CASH_PNL: cash,
  REALIZED_PNL: 'realized_pnl',
  TOTAL_PNL: `${cash} + realized_pnl`,
} as const satisfies Record<MarketPositionsSearch['sortBy'], string>;
const statuses = {
  OPEN: ' AND size > 0',
  CLOSED: ' AND size = 0',
  ALL: '',
} as const satisfies Record<MarketPositionsSearch['status'], string>;

/** Positions of a market, a page per token; ties by wallet. */
export async function readMarketPositions(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  search: MarketPositionsSearch,
): Promise<readonly MarketPositionRow[]> {
  const { market, user, status, sortBy, sortDirection, limit, offset, pricesMicro } = search;
  const sql = `
SELECT wallet, outcome, size, cost, total_bought, realized_pnl
FROM ${tables.holders.name} FINAL
WHERE market = {market:UInt32}${statuses[status]}${user === null ? '' : ' AND wallet = {user:String}'}
ORDER BY outcome, ${keys[sortBy]} ${sortDirection}, wallet
LIMIT {limit:UInt32} OFFSET {offset:UInt32} BY outcome
SETTINGS max_execution_time = 5`;
  const rows = await clickhouse.selectRows<PositionCells>(sql, {
    market,
    limit,
    offset,
    ...(user === null ? {} : { user }),
    ...(sql.includes('{price0')
      ? { price0: leastText(pricesMicro[0]), price1: leastText(pricesMicro[1]) }
      : {}),
  });
  return rows.map((row) => ({
    wallet: row.wallet,
    outcome: outcomeOf(row.outcome),
    sizeMicro: storedMicro(row.size),
    costMicro: storedMicro(row.cost),
    totalBoughtMicro: storedMicro(row.total_bought),
    realizedMicro: storedMicro(row.realized_pnl),
  }));
}

/** Number of markets a wallet traded in. */
export async function readTraded(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  wallet: WalletAddress,
): Promise<number> {
  const sql = `
SELECT uniqExact(market) AS markets
FROM ${tables.positions.name}
WHERE wallet = {wallet:String} AND volume > 0
SETTINGS max_execution_time = 5, max_threads = 1`;
  const [row] = await clickhouse.selectRows<{ readonly markets: string }>(sql, { wallet });
  return Number(row?.markets ?? 0);
}

/** Taker fees of the fills of a day in which the wallet was the maker, by market. */
export async function readMakerFees(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  wallet: WalletAddress,
  dayS: number,
): Promise<readonly MakerFeesRow[]> {
  const sql = `
SELECT market, toString(sum(fee)) AS fees
FROM ${tables.fills.name} FINAL
WHERE (market, time, partition, in_offset, event_index) IN (
  SELECT market, time, partition, in_offset, event_index FROM ${tables.walletFills.name}
  WHERE wallet = {wallet:String} AND role = 'MAKER'
    AND time >= fromUnixTimestamp({from:UInt32}) AND ${timeBefore('to')}
)
GROUP BY market
ORDER BY market
SETTINGS max_execution_time = 5`;
  const rows = await clickhouse.selectRows<{ readonly market: number; readonly fees: string }>(
    sql,
    {
      wallet,
      from: dayS,
      to: dayS + 86_400,
    },
  );
  return rows.map((row) => ({ market: row.market, feesMicro: storedMicro(row.fees) }));
}
