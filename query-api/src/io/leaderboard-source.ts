import type { ClickHouse } from '@pm/kit/clickhouse';
import { Fault } from '@pm/kit/fault';
import { leaderboardColumn, leaderboardTables } from '@pm/schemas';
import type {
  LeaderboardPage,
  LeaderboardRow,
  LeaderboardSearch,
} from '../core/reports/leaderboard.ts';

/** A newer computation is looked for this often, milliseconds. */
const LOOK_EVERY_MS = 1_000;

interface Row {
  readonly rank: number;
  readonly wallet: string;
  readonly vol_micro: string;
  readonly pnl_micro: string;
}

const { runs, tops, wallets } = leaderboardTables;

const newestSql = `SELECT toString(max(snapshot)) AS newest FROM ${runs.name}`;
const topSql = `
SELECT rank, wallet, vol_micro, pnl_micro
FROM ${tops.name}
WHERE snapshot = {snapshot:UInt64} AND period = {period:String} AND category = {category:UInt8}
  AND board = {board:String}
ORDER BY place
SETTINGS max_execution_time = 5`;
/** Columns of a board of single wallets, and who is listed in it. */
function boardOf({ period, orderBy }: LeaderboardSearch) {
  const [vol, pnl] = [leaderboardColumn('vol', period), leaderboardColumn('pnl', period)];
  const listed = `snapshot = {snapshot:UInt64} AND category = {category:UInt8} AND (${vol} != 0 OR ${pnl} != 0)`;
  return { vol, pnl, figure: orderBy === 'PNL' ? pnl : vol, listed };
}

const bounded = 'SETTINGS max_execution_time = 5, max_threads = 1';

/**
 * Leaderboards as they were computed last. What can be paged through is kept until a newer computation is there: all pages of all
 * boards are some ten thousand rows.
 */
export class LeaderboardSource {
  readonly #clickhouse: Pick<ClickHouse, 'selectRows'>;
  readonly #nowMs: () => number;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #newest: Promise<number> = Promise.resolve(0);
  #boards: { readonly snapshot: number; readonly kept: Map<string, Promise<readonly Row[]>> };

  constructor(clickhouse: Pick<ClickHouse, 'selectRows'>, nowMs: () => number) {
    this.#clickhouse = clickhouse;
    this.#nowMs = nowMs;
    this.#boards = { snapshot: 0, kept: new Map() };
  }

  /** Throws the `Fault` `leaderboards_not_ready` (retry) before the first computation. */
  async read(search: LeaderboardSearch): Promise<LeaderboardPage> {
    const snapshot = await this.#newestSnapshot();
    if (snapshot === 0) throw new Fault('leaderboards_not_ready', 'retry');
    const { offset, limit } = search;
    const rows =
      search.wallets === null
        ? (await this.#board(snapshot, search)).slice(offset, offset + limit)
        : await this.#ofWallets(snapshot, search);
    return { atMs: snapshot, rows: rows.map(rowOf) };
  }

  #newestSnapshot(): Promise<number> {
    if (this.#nowMs() - this.#lookedMs < LOOK_EVERY_MS) return this.#newest;
    this.#lookedMs = this.#nowMs();
    this.#newest = this.#clickhouse
      .selectRows<{ readonly newest: string }>(newestSql)
      .then(([row]) => Number(row?.newest ?? 0));
    this.#newest.catch(() => {
      this.#lookedMs = Number.NEGATIVE_INFINITY;
    });
    return this.#newest;
  }

  #board(snapshot: number, search: LeaderboardSearch): Promise<readonly Row[]> {
    if (this.#boards.snapshot !== snapshot) this.#boards = { snapshot, kept: new Map() };
    const { kept } = this.#boards;
    const { period, category, orderBy: board } = search;
    const name = `${period}:${category}:${board}`;
    const found = kept.get(name);
    if (found !== undefined) return found;
    const rows = this.#clickhouse.selectRows<Row>(topSql, { snapshot, period, category, board });
    kept.set(name, rows);
    rows.catch(() => kept.delete(name));
    return rows;
  }

  /** Of the wallets those with the largest figures, each ranked behind all that have more. */
  async #ofWallets(snapshot: number, search: LeaderboardSearch): Promise<readonly Row[]> {
    const { vol, pnl, figure, listed } = boardOf(search);
    const { category, limit, offset } = search;
    const board = { snapshot, category };
    const rows = await this.#clickhouse.selectRows<Omit<Row, 'rank'>>(
      `SELECT wallet, ${vol} AS vol_micro, ${pnl} AS pnl_micro FROM ${wallets.name}
       WHERE ${listed} AND wallet IN {wallets:Array(String)}
       ORDER BY ${figure} DESC, wallet LIMIT {limit:UInt32} OFFSET {offset:UInt32} ${bounded}`,
      { ...board, limit, offset, wallets: [...(search.wallets ?? [])] },
    );
    if (rows.length === 0) return [];
    const figures = rows.map((row) => (search.orderBy === 'PNL' ? row.pnl_micro : row.vol_micro));
    const counts = figures.map((_, at) => `toUInt32(countIf(${figure} > {figure${at}:Int64}))`);
    const [larger] = await this.#clickhouse.selectRows<{ readonly larger: readonly number[] }>(
      `SELECT [${counts.join(', ')}] AS larger FROM ${wallets.name} WHERE ${listed} ${bounded}`,
      { ...board, ...Object.fromEntries(figures.map((value, at) => [`figure${at}`, value])) },
    );
    return rows.map((row, at) => ({ ...row, rank: 1 + (larger?.larger[at] ?? 0) }));
  }
}

function rowOf({ rank, wallet, vol_micro, pnl_micro }: Row): LeaderboardRow {
  return { rank, wallet, volMicro: Number(vol_micro), pnlMicro: Number(pnl_micro) };
}
