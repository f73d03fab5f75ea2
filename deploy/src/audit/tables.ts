import type { ClickHouse } from '@pm/kit/clickhouse';
import { parseMicro, parsePrice } from '@pm/schemas';
import { tokenKey } from './accounts.ts';
import type { LogAudit } from './log-audit.ts';
import { equalMaps, type Mismatch } from './projections.ts';
import type { LogTally, PartitionTally } from './tally.ts';

/** Nothing here writes. */
type Tables = Pick<ClickHouse, 'selectRows'>;

/** What the log says, up to one offset of each partition. */
export interface LogSays {
  readonly audit: LogAudit;
  readonly tally: LogTally;
  readonly partitions: readonly number[];
}

/** Statements on whole tables may take so long; each is one pass with bounded memory. */
const settings = 'SETTINGS max_execution_time = 600, max_threads = 2';

interface TallyRow {
  readonly partition: number;
  readonly fills: string;
  readonly size_micro: string;
  readonly notional_micro: string;
  readonly fee_micro: string;
}

/**
 * P1 for facts: per partition as many fills as the log has, with the same sums, so that none is missing and none counts twice;
 * two rows by wallet for each; and as many placements, refusals, cancels and changes of levels. What lies behind the log that was
 * read is left out.
 */
export async function compareFacts(clickhouse: Tables, log: LogSays): Promise<string[]> {
  const bounds = `in_offset < arrayElement({bounds:Array(UInt64)}, partition + 1)`;
  const params = { bounds: boundsOf(log) };
  const fills = await clickhouse.selectRows<TallyRow>(
    `SELECT partition, toString(count()) AS fills, toString(toInt128(sum(size) * 1000000)) AS size_micro,
       toString(toInt128(sum(toDecimal128(taker_price, 4) * size) * 1000000)) AS notional_micro,
       toString(toInt128(sum(fee) * 1000000)) AS fee_micro
     FROM fills FINAL WHERE ${bounds} GROUP BY partition ${settings}`,
    params,
  );
  const counts = await countsByPartition(clickhouse, bounds, params);
  const stored = new Map(fills.map((row) => [row.partition, row]));
  return log.partitions.flatMap((partition) =>
    differences(partition, log.tally.of(partition), {
      row: stored.get(partition),
      counts: counts.get(partition) ?? new Map(),
    }),
  );
}

/** Bounds of all partitions by number; one that was not read has none of its rows compared. */
function boundsOf({ audit, partitions }: LogSays): number[] {
  return Array.from({ length: Math.max(-1, ...partitions) + 1 }, (_, partition) =>
    audit.nextInOffset(partition),
  );
}

type Counts = ReadonlyMap<string, number>;

async function countsByPartition(
  clickhouse: Tables,
  bounds: string,
  params: Record<string, readonly number[]>,
): Promise<ReadonlyMap<number, Counts>> {
  const rows = await clickhouse.selectRows<{ partition: number; what: string; rows: string }>(
    `SELECT partition, 'wallet_fills' AS what, count() AS rows FROM wallet_fills FINAL WHERE ${bounds} GROUP BY partition
     UNION ALL
     SELECT partition, toString(kind) AS what, count() AS rows FROM order_events FINAL WHERE ${bounds} GROUP BY partition, kind
     UNION ALL
     SELECT partition, 'wallet_cancels' AS what, count() AS rows FROM wallet_cancels FINAL WHERE ${bounds} GROUP BY partition
     UNION ALL
     SELECT partition, 'book_events' AS what, count() AS rows FROM book_events FINAL WHERE ${bounds} GROUP BY partition
     ${settings}`,
    params,
  );
  const counts = new Map<number, Map<string, number>>();
  for (const { partition, what, rows: count } of rows) {
    const of = counts.get(partition) ?? new Map<string, number>();
    counts.set(partition, of.set(what, Number(count)));
  }
  return counts;
}

function differences(
  partition: number,
  owed: PartitionTally,
  { row, counts }: { readonly row: TallyRow | undefined; readonly counts: Counts },
): string[] {
  const pairs: readonly (readonly [string, string, string])[] = [
    ['fills', row?.fills ?? '0', String(owed.fills)],
    ['size of fills', row?.size_micro ?? '0', String(owed.sizeMicro)],
    ['notional of fills', row?.notional_micro ?? '0', String(owed.notionalMicro)],
    ['fees of fills', row?.fee_micro ?? '0', String(owed.feeMicro)],
    ...(
      [
        ['wallet_fills', owed.fills * 2],
        ['PLACED', owed.placed],
        ['REFUSED', owed.refused],
        ['CANCELED', owed.canceled],
        ['FILLED', owed.fills * 2],
        ['wallet_cancels', owed.canceled],
        ['book_events', owed.levels],
      ] as const
    ).map(([name, count]) => [name, String(counts.get(name) ?? 0), String(count)] as const),
  ];
  return pairs
    .filter(([, told, expected]) => told !== expected)
    .map(
      ([name, told, expected]) =>
        `P1 partition ${partition}, ${name}: ${told} instead of ${expected}`,
    );
}

/** P1 for `positions` and `holders`: every wallet holds what the log adds up to. */
export async function compareHeld(
  clickhouse: Tables,
  table: 'positions' | 'holders',
  { accounts }: Pick<LogAudit, 'accounts'>,
): Promise<Mismatch[]> {
  const wrong: Mismatch[] = [];
  let seen = 0;
  for await (const { key, sizeMicro } of heldRows(clickhouse, table)) {
    const owed = accounts.tokens.get(key) ?? 0;
    if (owed !== 0) seen += 1;
    if (owed === sizeMicro) continue;
    wrong.push({ about: key, text: `P1 ${table}, ${key}: ${sizeMicro} instead of ${owed}` });
  }
  const missing = accounts.tokens.size - seen;
  if (missing > 0) wrong.push({ about: '', text: `P1 ${table}: ${missing} rows are missing` });
  return wrong;
}

interface HeldRow {
  readonly wallet: string;
  readonly market: number;
  readonly outcome: number;
  readonly size: string;
}

/** Rows of one answer. */
const pageRows = 50_000;

/** Also those that hold nothing any more: a row that should be there is then never taken for missing. */
async function* heldRows(clickhouse: Tables, table: 'positions' | 'holders') {
  const key = table === 'positions' ? 'wallet, market, outcome' : 'market, outcome, wallet';
  let after: HeldRow = { wallet: '', market: 0, outcome: 0, size: '' };
  for (;;) {
    const bound =
      table === 'positions'
        ? '({wallet:String}, {market:UInt32}, {outcome:UInt8})'
        : '({market:UInt32}, {outcome:UInt8}, {wallet:String})';
    const rows = await clickhouse.selectRows<HeldRow>(
      `SELECT wallet, market, outcome, size FROM ${table} FINAL WHERE (${key}) > ${bound}
       ORDER BY ${key} LIMIT ${pageRows} ${settings}`,
      { wallet: after.wallet, market: after.market, outcome: after.outcome },
    );
    for (const row of rows)
      yield {
        key: tokenKey(row.wallet, row.market, row.outcome),
        sizeMicro: parseMicro(row.size) ?? -1,
      };
    const last = rows.at(-1);
    if (last === undefined || rows.length < pageRows) return;
    after = last;
  }
}

/** C1 in the tables alone: both tokens of a market that is not resolved are held in the same number. */
export async function compareSupply(
  clickhouse: Tables,
  { payouts, accounts }: Pick<LogAudit, 'payouts' | 'accounts'>,
): Promise<Mismatch[]> {
  const rows = await clickhouse.selectRows<{ market: number; first: string; second: string }>(
    `SELECT market, sumIf(size, outcome = 0) AS first, sumIf(size, outcome = 1) AS second
     FROM positions FINAL GROUP BY market ${settings}`,
  );
  const wrong: Mismatch[] = [];
  for (const { market, first, second } of rows) {
    const sums = [parseMicro(first) ?? -1, parseMicro(second) ?? -1];
    const locked = accounts.collateral.get(market) ?? 0;
    if (payouts.has(market) || (sums[0] === locked && sums[1] === locked)) continue;
    const text = `C1 market ${market}: ${first} and ${second} held, ${locked} micro-USDC locked`;
    wrong.push({ about: String(market), text });
  }
  return wrong;
}

/** P1 for `book_events`: the newest row of each level is the book the log ends with. */
export async function compareLevels(
  clickhouse: Tables,
  { levels }: Pick<LogAudit, 'levels'>,
): Promise<Mismatch[]> {
  const rows = await clickhouse.selectRows<{
    market: number;
    side: string;
    price: string;
    size: string;
  }>(
    `SELECT market, side, price, argMax(size, (in_offset, event_index)) AS size
     FROM book_events GROUP BY market, side, price HAVING size != 0 ${settings}`,
  );
  const told = new Map<number, Map<string, number>>();
  for (const row of rows) {
    const of = told.get(row.market) ?? new Map<string, number>();
    told.set(
      row.market,
      of.set(`${row.side} ${parsePrice(trimZeros(row.price))}`, parseMicro(row.size) ?? -1),
    );
  }
  const wrong: Mismatch[] = [];
  for (const market of new Set([...told.keys(), ...levels.keys()])) {
    const [one, other] = [told.get(market) ?? new Map(), levels.get(market) ?? new Map()];
    if (equalMaps(one, other)) continue;
    wrong.push({ about: String(market), text: `P1 book_events of market ${market} differ` });
  }
  return wrong;
}

/** P1 for `open_orders`: what it shows rests on the books, and nothing else does. */
export async function compareOpenOrders(
  clickhouse: Tables,
  { orders }: Pick<LogAudit, 'orders'>,
): Promise<Mismatch[]> {
  const rows = await clickhouse.selectRows<{ order_id: string }>(
    `SELECT order_id FROM open_orders FINAL WHERE ended = 0 ${settings}`,
  );
  const shown = new Set(rows.map((row) => row.order_id));
  const wrong: Mismatch[] = [];
  for (const id of shown)
    if ((orders.get(id)?.restingMicro ?? 0) === 0) {
      wrong.push({ about: id, text: `P1 open_orders: ${id} does not rest` });
    }
  for (const [id, { restingMicro }] of orders)
    if (restingMicro > 0 && !shown.has(id)) {
      wrong.push({ about: id, text: `P1 open_orders: ${id} is missing` });
    }
  return wrong;
}

/** Prices of shares lie between 0 and 1 USDC, wherever they stand; a midpoint of 0 says that a side was empty. */
export async function checkPrices(clickhouse: Tables): Promise<string[]> {
  const outside = (column: string) => `countIf(${column} <= 0 OR ${column} >= 1)`;
  const rows = await clickhouse.selectRows<Record<string, string>>(
    `SELECT
       (SELECT ${outside('taker_price')} + ${outside('maker_price')} FROM fills) AS fills,
       (SELECT ${outside('price')} FROM wallet_fills) AS wallet_fills,
       (SELECT countIf(kind IN ('PLACED', 'FILLED') AND (price <= 0 OR price >= 1)) FROM order_events) AS order_events,
       (SELECT ${outside('price')} FROM book_events) AS book_events,
       (SELECT countIf(midpoint < 0 OR midpoint >= 1) FROM midpoints_1m) AS midpoints_1m,
       (SELECT countIf(low <= 0 OR high >= 1 OR low > high OR open < low OR close < low OR open > high OR close > high)
          FROM candles_1m FINAL) AS candles_1m
     ${settings}`,
  );
  return Object.entries(rows[0] ?? {})
    .filter(([, count]) => count !== '0')
    .map(([table, count]) => `${count} rows of ${table} have a price that cannot be`);
}

/** Candles of minutes that are over add up to the trades of their tokens. `throughS`: the tables are complete up to there, Unix seconds. */
export async function compareCandles(clickhouse: Tables, throughS: number): Promise<string[]> {
  const rows = await clickhouse.selectRows<{ market: number; outcome: number; off: string }>(
    `SELECT market, outcome, sum(moved) AS off FROM (
       SELECT market, taker_outcome AS outcome, size AS moved FROM fills FINAL WHERE time < toDateTime64({end:UInt32}, 3)
       UNION ALL
       SELECT market, maker_outcome AS outcome, size AS moved FROM fills FINAL
         WHERE match != 'COMPLEMENTARY' AND time < toDateTime64({end:UInt32}, 3)
       UNION ALL
       SELECT market, outcome, -volume AS moved FROM candles_1m FINAL WHERE bucket < fromUnixTimestamp({end:UInt32})
     ) GROUP BY market, outcome HAVING off != 0 LIMIT 20 ${settings}`,
    { end: throughS - (throughS % 60) },
  );
  return rows.map(
    ({ market, outcome, off }) => `P1 candles of ${market}.${outcome} are off by ${off}`,
  );
}

/** Tables print four places whatever the price. */
function trimZeros(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/\.?0+$/, '') : decimal;
}
