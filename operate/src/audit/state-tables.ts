import type { ClickHouse } from '@pm/kit/clickhouse';
import { parseMicro } from '@pm/schemas/decimal';
import type { Mismatch } from './compare-redis.ts';
import { openOrderDigestSql } from './digests.ts';
import { tokenKey } from './fill-totals.ts';
import type { LogAudit } from './log-audit.ts';
import type { Position, PositionKey } from './positions.ts';

/** Nothing here writes. */
type Tables = Pick<ClickHouse, 'selectRows'>;

/** Statements on whole tables take long; each is one pass with bounded memory. */
const settings = 'SETTINGS max_execution_time = 600, max_threads = 2';
/** Rows of one result. */
const pageRows = 50_000;
/** More wrong rows of a table would say nothing new. */
const wrongMax = 1_000;

/** Columns of positions and their expected values. Holders have some of them. */
const positionCells = [
  ['partition', 'partition', 'partition'],
  ['size', 'reinterpretAsInt64(size)', 'sizeMicro'],
  ['cost', 'reinterpretAsInt64(cost)', 'costMicro'],
  ['total_bought', 'reinterpretAsInt64(total_bought)', 'boughtMicro'],
  ['shares_bought', 'reinterpretAsInt64(shares_bought)', 'sharesMicro'],
  ['realized_pnl', 'reinterpretAsInt64(realized_pnl)', 'realizedMicro'],
  ['volume', 'reinterpretAsInt64(volume)', 'volumeMicro'],
  ['updated', 'toUnixTimestamp64Milli(updated)', 'updatedMs'],
  ['version', 'version', 'version'],
] as const satisfies readonly (readonly [string, string, keyof Position])[];

const heldTables = {
  positions: {
    key: ['wallet', 'market', 'outcome'],
    cells: positionCells,
  },
  holders: {
    key: ['market', 'outcome', 'wallet'],
    cells: positionCells.filter(
      ([name]) => !['partition', 'shares_bought', 'volume', 'updated'].includes(name),
    ),
  },
} as const;

type HeldTable = keyof typeof heldTables;

/** Expected state of a table of positions. */
type Held = Pick<LogAudit, 'totals' | 'nextInOffset'>;

/**
 * P1 for `positions` and `holders`: a row for each token that a wallet ever had, with the figures that the log adds up
 * to.
 */
export async function compareHeld(
  clickhouse: Tables,
  table: HeldTable,
  log: Held,
): Promise<Mismatch[]> {
  const wrong: Mismatch[] = [];
  let known = 0;
  let certain = 0;
  for await (const row of heldRows(clickhouse, table)) {
    const owed = log.totals.positions.get(row);
    if (owed !== null) known += 1;
    const mismatch = mismatchOf(table, row, { owed, log });
    if (mismatch === null) continue;
    wrong.push(mismatch);
    if (mismatch.about === null) certain += 1;
    if (certain === wrongMax) return wrong;
  }
  const missing = log.totals.positions.count - known;
  if (missing > 0) wrong.push({ about: null, text: `P1 ${table}: ${missing} rows are missing` });
  return wrong;
}

type HeldRow = PositionKey & Readonly<Record<string, string | number>>;

/** A row must be as the log leads to; one that shows more is allowed only if it changed meanwhile. */
function mismatchOf(
  table: HeldTable,
  row: HeldRow,
  { owed, log }: { readonly owed: Position | null; readonly log: Held },
): Mismatch | null {
  const key = tokenKey(row);
  const partition = owed?.partition ?? Number(row['cell_partition'] ?? -1);
  const version = Number(row['cell_version']);
  if (version >= log.nextInOffset(partition))
    return { about: key, text: `P1 ${table}, ${key}: no record ${version} is about it` };
  if (owed === null) return { about: null, text: `P1 ${table}, ${key}: nothing leads to it` };
  const differing = heldTables[table].cells.flatMap(([name, , field]) => {
    const found = Number(row[`cell_${name}`]);
    return found === owed[field] ? [] : [`${name} ${found} instead of ${owed[field]}`];
  });
  if (differing.length === 0) return null;
  return { about: null, text: `P1 ${table}, ${key}: ${differing.join(', ')}` };
}

/** All rows, also those of positions that are closed. */
async function* heldRows(clickhouse: Tables, table: HeldTable): AsyncGenerator<HeldRow> {
  const { key, cells } = heldTables[table];
  const named = cells.map(([name, sql]) => `${sql} AS cell_${name}`);
  const types = { wallet: 'String', market: 'UInt32', outcome: 'UInt8' };
  const bound = key.map((name) => `{${name}:${types[name]}}`).join(', ');
  let after: PositionKey = { wallet: '', market: 0, outcome: 0 };
  for (;;) {
    const { wallet, market, outcome } = after;
    const rows = await clickhouse.selectRows<HeldRow>(
      `SELECT wallet, market, outcome, ${named.join(', ')} FROM ${table} FINAL
       WHERE (${key.join(', ')}) > (${bound}) ORDER BY ${key.join(', ')} LIMIT ${pageRows} ${settings}`,
      { wallet, market, outcome },
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = last;
  }
}

/** C1 in the tables alone: both tokens of a market that is not resolved are held in the same number. */
export async function compareSupply(
  clickhouse: Tables,
  { payouts, totals }: Pick<LogAudit, 'payouts' | 'totals'>,
): Promise<Mismatch[]> {
  const rows = await clickhouse.selectRows<{ market: number; first: string; second: string }>(
    `SELECT market, sumIf(size, outcome = 0) AS first, sumIf(size, outcome = 1) AS second
     FROM positions FINAL GROUP BY market ${settings}`,
  );
  const wrong: Mismatch[] = [];
  for (const { market, first, second } of rows) {
    const sums = [parseMicro(first) ?? -1, parseMicro(second) ?? -1];
    const locked = totals.collateral.get(market) ?? 0;
    if (payouts.has(market) || (sums[0] === locked && sums[1] === locked)) continue;
    const text = `C1 market ${market}: ${first} and ${second} held, ${locked} micro-USDC locked`;
    wrong.push({ about: String(market), text });
  }
  return wrong;
}

/** P1 for `open_orders`: its rows are the resting orders, in every column, and there are no others. */
export async function compareOpenOrders(
  clickhouse: Tables,
  { orders }: Pick<LogAudit, 'orders'>,
): Promise<Mismatch[]> {
  const wrong: Mismatch[] = [];
  const shown = new Set<string>();
  for await (const { order_id: id, digest } of openOrderRows(clickhouse)) {
    shown.add(id);
    const order = orders.get(id);
    if ((order?.restingMicro ?? 0) === 0)
      wrong.push({ about: id, text: `P1 open_orders: ${id} does not rest` });
    else if (order?.digest !== digest)
      wrong.push({ about: null, text: `P1 open_orders: ${id} was placed otherwise` });
  }
  for (const [id, { restingMicro }] of orders)
    if (restingMicro > 0 && !shown.has(id))
      wrong.push({ about: id, text: `P1 open_orders: ${id} is missing` });
  return wrong;
}

interface OpenOrderRow {
  readonly wallet: string;
  readonly order_id: string;
  readonly digest: number;
}

async function* openOrderRows(clickhouse: Tables): AsyncGenerator<OpenOrderRow> {
  let after = { wallet: '', id: '' };
  for (;;) {
    const rows = await clickhouse.selectRows<OpenOrderRow>(
      `SELECT wallet, order_id, digest FROM (
         SELECT wallet, order_id, ${openOrderDigestSql} FROM open_orders FINAL
         WHERE ended = 0 AND (wallet, order_id) > ({wallet:String}, {id:String})
         ORDER BY wallet, order_id LIMIT ${pageRows}
       ) ORDER BY wallet, order_id ${settings}`,
      after,
    );
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = { wallet: last.wallet, id: last.order_id };
  }
}

/** Prices of shares are between 0 and 1 USDC in every table; without a midpoint a side was empty. */
export async function checkPrices(clickhouse: Tables): Promise<string[]> {
  const outside = (column: string) => `countIf(${column} <= 0 OR ${column} >= 1)`;
  const rows = await clickhouse.selectRows<Record<string, string>>(
    `SELECT
       (SELECT ${outside('taker_price')} + ${outside('maker_price')} FROM fills) AS fills,
       (SELECT ${outside('price')} FROM wallet_fills) AS wallet_fills,
       (SELECT ${outside('price')} FROM tape) AS tape,
       (SELECT ${outside('taker_price')} + ${outside('maker_price')} FROM builder_fills) AS builder_fills,
       (SELECT countIf(kind IN ('PLACED', 'FILLED') AND (price <= 0 OR price >= 1)) FROM order_events) AS order_events,
       (SELECT ${outside('price')} FROM book_events) AS book_events,
       (SELECT ${outside('bid')} + ${outside('ask')} + countIf(bid >= ask OR isNull(midpoint) != isNull(bid + ask)) FROM midpoints_1m) AS midpoints_1m,
       (SELECT countIf(low <= 0 OR high >= 1 OR low > high OR open < low OR close < low OR open > high OR close > high)
          FROM candles_1m FINAL) AS candles_1m
     ${settings}`,
  );
  return Object.entries(rows[0] ?? {})
    .filter(([, count]) => count !== '0')
    .map(([table, count]) => `${count} rows of ${table} have a price outside of 0 to 1`);
}
