import type { ClickHouse } from '@pm/kit/clickhouse';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';

/** Wallets and markets of the generated history; few have most of the trades. */
export const walletsMade = 200_000;
export const marketsMade = 5_000;
/** The first ranks of wallets quote in all markets and make half of the fills. */
export const makersMade = 20;
const builders = 50;
const days = 90;

/** The last fills come as a projector writes them: so many batches of so many fills, not merged yet. */
const lateBatches = 20;
const lateFills = 500;

/** A number in [0, 1) that follows from the number of the fill and a salt. */
const uniform = (salt: number): string => `(cityHash64(number, ${salt}) / 18446744073709551616)`;
/** Spreads ranks over addresses, as real ones lie (Knuth's multiplicative hash). */
const spread = 2_654_435_761;
const walletText = (rank: string): string =>
  `concat('0x', leftPad(lower(hex(toUInt32(toUInt64(${rank}) * ${spread}))), 8, '0'), leftPad(lower(hex(toUInt32(${rank}))), 32, '0'))`;

/** The wallet of a rank. */
export function walletOf(rank: number): string {
  const first = (Math.imul(rank, spread) >>> 0).toString(16).padStart(8, '0');
  return `0x${first}${rank.toString(16).padStart(32, '0')}`;
}

/**
 * Each market has a crowd of its own, 30 to 12,000 wallets: who trades there; an early one of the crowd trades more.
 * Ten million fills make some six trades a position so, one million some two.
 */
const crowd = `(30 + floor(11970 * pow(1 - market / ${marketsMade}, 30)))`;
const ofCrowd = (salt: number): string =>
  `toUInt32(${makersMade + 1} + floor(pow(cityHash64(market, floor(pow(${uniform(salt)}, 2) * ${crowd})) / 18446744073709551616, 2)
    * ${walletsMade - makersMade}))`;

/** Fills by number, in the order of time, as a log is: `count` of them from `from` on. */
function fillsSql({ from, count, all }: Range): string {
  return `SELECT number,
    fromUnixTimestamp64Milli(toInt64(({now:UInt32} - ${days * 86_400}) * 1000 + number * ${(days * 86_400_000) / all})) AS time,
    toUInt32(1 + floor(pow(${uniform(2)}, 3) * ${marketsMade})) AS market,
    toUInt8(${uniform(3)} < 0.5) AS outcome,
    toDecimal32(0.01 + floor(${uniform(4)} * 98) / 100, 4) AS price,
    toDecimal64(1 + floor(${uniform(5)} * 500), 6) AS size,
    if(${uniform(9)} < 0.7, 'BUY', 'SELL') AS side,
    ${walletText(ofCrowd(1))} AS taker,
    ${walletText(`if(${uniform(6)} < 0.5, 1 + floor(${uniform(7)} * ${makersMade}), ${ofCrowd(7)})`)} AS maker
  FROM numbers(${from}, ${count})`;
}

interface Range {
  readonly from: number;
  readonly count: number;
  /** Fills of the whole history. */
  readonly all: number;
}

interface Fill {
  readonly table: string;
  readonly sql: string;
}

/** Rows that a projector writes for some fills; a position has a row for each change, as in production. */
function inserts(range: Range): readonly Fill[] {
  const fills = fillsSql(range);
  const legs = `SELECT *, arrayJoin([taker, maker]) AS wallet FROM (${fills})`;
  const held = `wallet, market, outcome, size, toDecimal64(5, 6), toDecimal64(9, 6), toDecimal64(1, 6), number`;
  const sql = (table: string, columns: string, select: string): Fill => ({
    table,
    sql: `INSERT INTO ${table} (${columns}) ${select}`,
  });
  const { positions, holders, midpoints, candles, builderFills, walletFills } = tables;
  return [
    sql(
      positions.name,
      'wallet, market, outcome, size, cost, total_bought, realized_pnl, version, volume, shares_bought, partition, updated',
      `SELECT ${held}, toDecimal64(9, 6), toDecimal64(12, 6), 0, time FROM (${legs})`,
    ),
    sql(
      holders.name,
      'wallet, market, outcome, size, cost, total_bought, realized_pnl, version',
      `SELECT ${held} FROM (${legs})`,
    ),
    sql(
      midpoints.name,
      'market, bucket, midpoint, bid, ask, version',
      `SELECT market, toStartOfMinute(toDateTime(time)), toDecimal64(best + 0.005, 6), best, best + toDecimal32('0.01', 4), number
       FROM (SELECT *, toDecimal32(0.01 + ${uniform(6)} * 0.9, 4) AS best FROM (${fills}))`,
    ),
    sql(
      candles.name,
      'market, outcome, bucket, open, high, low, close, volume, notional, trades, version',
      `SELECT market, outcome, toStartOfMinute(toDateTime(time)), price, price, price, price, size, toDecimal64(1, 6), 1, number FROM (${fills})`,
    ),
    sql(
      builderFills.name,
      'in_offset, event_index, time, market, size, taker, taker_outcome, taker_price, maker, maker_outcome, maker_price, role, builder, taker_order, maker_order',
      `SELECT number, 0, time, market, size, taker, outcome, price, maker, outcome, price, 'TAKER',
        concat('0x', leftPad(toString(toUInt32(${uniform(8)} * ${builders})), 64, '0')),
        concat('0x', lower(hex(sipHash128(number))), lower(hex(sipHash128(number, 1)))),
        concat('0x', lower(hex(sipHash128(number, 2))), lower(hex(sipHash128(number, 3))))
       FROM (${fills}) WHERE ${uniform(10)} < 0.4`,
    ),
    ...(['taker', 'maker'] as const).map((role) =>
      sql(
        walletFills.name,
        'in_offset, event_index, time, wallet, role, market, outcome, side, price, size',
        `SELECT number, 0, time, ${role}, '${role.toUpperCase()}', market, outcome, side, price, size FROM (${fills})`,
      ),
    ),
  ];
}

export interface GeneratedHistory {
  readonly fills: number;
  /** The end of the history, Unix seconds. */
  readonly nowS: number;
  progress(line: string): void;
}

/**
 * Makes the tables in an empty database and fills them: the bulk in large inserts that get merged, then the last
 * batches as they come from a log. Ten million fills take some five minutes on two cores, 4 GB of disk and no more
 * memory than one million.
 */
export async function fillTables(
  clickhouse: Pick<ClickHouse, 'command' | 'selectRows'>,
  database: string,
  { fills, nowS, progress }: GeneratedHistory,
): Promise<void> {
  const made = [...Object.values(tables), ...Object.values(leaderboardTables)];
  for (const table of made) await clickhouse.command(createTableSql(table, database));
  const late = Math.min(fills, lateBatches * lateFills);
  const insert = async (range: Range): Promise<void> => {
    for (const { sql } of inserts(range)) await clickhouse.command(sql, { now: nowS });
  };
  for (let from = 0; from < fills - late; from += bulkFills) {
    await insert({ from, count: Math.min(bulkFills, fills - late - from), all: fills });
    progress(`${Math.min(fills, from + bulkFills)} of ${fills} fills written`);
  }
  await untilMerged(clickhouse, database, progress);
  // These tables do it by themselves when their rows are an hour old.
  for (const { name } of [tables.positions, tables.holders]) {
    progress(`merging ${name}`);
    await clickhouse.command(`OPTIMIZE TABLE ${name} FINAL`);
  }
  for (let from = fills - late; from < fills; from += lateFills)
    await insert({ from, count: Math.min(lateFills, fills - from), all: fills });
}

/** Fills of one large insert. */
const bulkFills = 250_000;
/** Time limit of merges; the rest stays unmerged. */
const mergesMaxMs = 240_000;

async function untilMerged(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  database: string,
  progress: (line: string) => void,
): Promise<void> {
  const deadlineMs = performance.now() + mergesMaxMs;
  for (let quietFor = 0; quietFor < 3 && performance.now() < deadlineMs; ) {
    const [row] = await clickhouse.selectRows<{ readonly merges: string }>(
      'SELECT toString(count()) AS merges FROM system.merges WHERE database = {database:String}',
      { database },
    );
    quietFor = row?.merges === '0' ? quietFor + 1 : 0;
    if (row?.merges !== '0') progress(`${row?.merges} merges under way`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
