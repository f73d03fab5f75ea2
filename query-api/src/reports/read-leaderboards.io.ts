import type { ClickHouse } from '@pm/kit/clickhouse';
import {
  type LeaderboardPeriod,
  leaderboardColumn,
  leaderboardTables,
} from '@pm/schemas/tables/leaderboard-tables';
import { readInPieces } from '../tables/read-pieces.io.ts';
import type { LeaderboardRow } from './leaderboard-query.ts';

/** The client that leaderboards are read with. */
export type LeaderboardClickHouse = Pick<ClickHouse, 'selectRows'>;

/** A leaderboard of one computation. */
export interface Board {
  /** When it was computed, Unix milliseconds. */
  readonly snapshot: number;
  readonly period: LeaderboardPeriod;
  /** Place in the list of categories. */
  readonly category: number;
  readonly orderBy: 'PNL' | 'VOL';
}

/** A wallet of a board without its rank; the figure is what the board is sorted by. Micro-USDC. */
export interface UnrankedRow {
  readonly wallet: string;
  readonly volMicro: number;
  readonly pnlMicro: number;
  readonly figure: bigint;
}

const { runs, tops, wallets } = leaderboardTables;

/** Compiling the expressions would take longer than reading does. */
const bounded = 'SETTINGS max_execution_time = 5, max_threads = 1, compile_expressions = 0';
/**
 * A computation is a partition of each table. To compare the column instead reads it, which costs more than the rest.
 */
const computed = '_partition_id = toString({snapshot:UInt64})';

/** Columns of a board, and who is listed in it. */
function columnsOf({ period, orderBy }: Board) {
  const [vol, pnl] = [leaderboardColumn('vol', period), leaderboardColumn('pnl', period)];
  const listed = `${computed} AND category = {category:UInt8} AND (${vol} != 0 OR ${pnl} != 0)`;
  return { vol, pnl, figure: orderBy === 'PNL' ? pnl : vol, listed };
}

/** The newest computation that is whole; 0 before the first one. */
export async function readNewest(clickhouse: LeaderboardClickHouse): Promise<number> {
  const [row] = await clickhouse.selectRows<{ readonly newest: string }>(
    `SELECT toString(max(snapshot)) AS newest FROM ${runs.name}`,
  );
  return Number(row?.newest ?? 0);
}

/** All that can be paged through of a board, in its order. */
export async function readTop(
  clickhouse: LeaderboardClickHouse,
  { snapshot, period, category, orderBy: board }: Board,
): Promise<readonly LeaderboardRow[]> {
  const rows = await clickhouse.selectRows<{
    readonly rank: number;
    readonly wallet: string;
    readonly vol_micro: string;
    readonly pnl_micro: string;
  }>(
    `SELECT rank, wallet, vol_micro, pnl_micro FROM ${tops.name}
     WHERE ${computed} AND period = {period:String} AND category = {category:UInt8} AND board = {board:String}
     ORDER BY place ${bounded}`,
    { snapshot, period, category, board },
  );
  return rows.map(({ rank, wallet, vol_micro, pnl_micro }) => ({
    rank,
    wallet,
    volMicro: Number(vol_micro),
    pnlMicro: Number(pnl_micro),
  }));
}

interface ListedRow {
  readonly wallet: string;
  readonly vol: string;
  readonly pnl: string;
}

/** Rows of the requested wallets that are listed on the leaderboard, the largest figures first. */
export async function readListed(
  clickhouse: LeaderboardClickHouse,
  board: Board,
  requested: readonly string[],
): Promise<readonly UnrankedRow[]> {
  const { vol, pnl } = columnsOf(board);
  const { snapshot, category } = board;
  const sql = `SELECT wallet, ${vol} AS vol, ${pnl} AS pnl FROM ${wallets.name}
     WHERE ${computed} AND category = {category:UInt8} AND wallet IN {wallets:Array(String)} ${bounded}`;
  const rows = await readInPieces(requested, (some) =>
    clickhouse.selectRows<ListedRow>(sql, { snapshot, category, wallets: some }),
  );
  // Few rows: to sort and filter them here costs less than a plan with both.
  return rows
    .filter((row) => Number(row.vol) !== 0 || Number(row.pnl) !== 0)
    .map((row) => ({
      wallet: row.wallet,
      volMicro: Number(row.vol),
      pnlMicro: Number(row.pnl),
      figure: BigInt(board.orderBy === 'PNL' ? row.pnl : row.vol),
    }))
    .sort(byFigure);
}

function byFigure(one: UnrankedRow, other: UnrankedRow): number {
  if (one.figure !== other.figure) return one.figure > other.figure ? -1 : 1;
  return one.wallet < other.wallet ? -1 : 1;
}

/**
 * How many wallets the category has, and how many listed ones have more than each of the figures: one pass over a
 * column or two.
 */
export async function countLarger(
  clickhouse: LeaderboardClickHouse,
  board: Board,
  figures: readonly bigint[],
): Promise<{ readonly wallets: number; readonly larger: readonly number[] }> {
  const { vol, pnl, figure } = columnsOf(board);
  const counts = figures.map(
    (_, at) => `toUInt32(countIf(${figure} > toInt64({figures:Array(String)}[${at + 1}])))`,
  );
  // Who is not listed has figures of 0, which are more than a loss.
  const unlisted = figures.some((one) => one < 0n) ? `countIf(${vol} = 0 AND ${pnl} = 0)` : '0';
  const [row] = await clickhouse.selectRows<{
    readonly all: number;
    readonly unlisted: number;
    readonly larger: readonly number[];
  }>(
    `SELECT toUInt32(count()) AS all, toUInt32(${unlisted}) AS unlisted, [${counts.join(', ')}] AS larger
     FROM ${wallets.name} WHERE ${computed} AND category = {category:UInt8} ${bounded}`,
    { snapshot: board.snapshot, category: board.category, figures: figures.map(String) },
  );
  const { all = 0, unlisted: others = 0, larger = [] } = row ?? {};
  const counted = larger.map((count, at) => count - ((figures[at] ?? 0n) < 0n ? others : 0));
  return { wallets: all, larger: counted };
}

/**
 * All figures of a board as `SortedFigures` takes them; `null` when they are more than `most`, or none: the
 * caller has seen some, so the computation was dropped. They come as one text, since numbers by the
 * hundred thousand would delay all other requests while they are parsed, and as one row, since roles bound rows.
 */
export async function readFigures(
  clickhouse: LeaderboardClickHouse,
  board: Board,
  most: number,
): Promise<Buffer | null> {
  const { figure, listed } = columnsOf(board);
  // Biased by 2^63, money always has all sixteen digits.
  const digits = `hex(bitXor(toUInt64(figure), ${2n ** 63n}))`;
  const [row] = await clickhouse.selectRows<{ readonly listed: number; readonly digits: string }>(
    `SELECT toUInt32(count()) AS listed,
       arrayStringConcat(arrayMap(figure -> ${digits}, arraySort(groupArray(${most + 1})(${figure})))) AS digits
     FROM ${wallets.name} WHERE ${listed} ${bounded}`,
    { snapshot: board.snapshot, category: board.category },
  );
  const { listed: count = 0, digits: text = '' } = row ?? {};
  const isWhole = count > 0 && count <= most && text.length === count * 16;
  return isWhole ? Buffer.from(text, 'hex') : null;
}
