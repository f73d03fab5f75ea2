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

/** Wallets of a board, and how many of all listed ones have more than each. */
interface RankedRow {
  readonly addresses: readonly string[];
  readonly vols: readonly string[];
  readonly pnls: readonly string[];
  readonly larger: readonly number[];
}

const { runs, tops, wallets } = leaderboardTables;

const newestSql = `SELECT toString(max(snapshot)) AS newest FROM ${runs.name}`;
/** Compiling the expressions would take longer than counting does. */
const bounded = 'SETTINGS max_execution_time = 5, max_threads = 1, compile_expressions = 0';
/** A computation is a partition of each table. To compare the column instead reads it, which costs more than the rest. */
const computed = '_partition_id = toString({snapshot:UInt64})';
const topSql = `
SELECT rank, wallet, vol_micro, pnl_micro
FROM ${tops.name}
WHERE ${computed} AND period = {period:String} AND category = {category:UInt8} AND board = {board:String}
ORDER BY place
${bounded}`;
/** Columns of a board of single wallets, and who is listed in it. */
function boardOf({ period, orderBy }: LeaderboardSearch) {
  const [vol, pnl] = [leaderboardColumn('vol', period), leaderboardColumn('pnl', period)];
  const listed = `${computed} AND category = {category:UInt8} AND (${vol} != 0 OR ${pnl} != 0)`;
  return { vol, pnl, figure: orderBy === 'PNL' ? pnl : vol, listed };
}

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

  /**
   * Of the wallets those with the largest figures, each ranked behind all that have more. Their figures are looked up first and
   * are constants of the one pass that counts.
   */
  async #ofWallets(snapshot: number, search: LeaderboardSearch): Promise<readonly Row[]> {
    const { vol, pnl, figure, listed } = boardOf(search);
    const { category, limit, offset, wallets: asked } = search;
    const count = Math.min(limit, Math.max(0, (asked?.length ?? 0) - offset));
    if (count === 0) return [];
    const place = search.orderBy === 'PNL' ? 3 : 2;
    const counts = Array.from(
      { length: count },
      (_, at) => `toUInt32(countIf(${figure} > mine.${place}[${at + 1}]))`,
    );
    const [found] = await this.#clickhouse.selectRows<RankedRow>(
      `WITH (
         SELECT tuple(groupArray(toString(wallet)), groupArray(${vol}), groupArray(${pnl}))
         FROM (
           SELECT wallet, ${vol}, ${pnl} FROM ${wallets.name}
           WHERE ${listed} AND wallet IN {wallets:Array(String)}
           ORDER BY ${figure} DESC, wallet LIMIT {limit:UInt32} OFFSET {offset:UInt32}
         )
       ) AS mine
       SELECT mine.1 AS addresses, mine.2 AS vols, mine.3 AS pnls, [${counts.join(', ')}] AS larger
       FROM ${wallets.name} WHERE ${listed} ${bounded}`,
      { snapshot, category, limit, offset, wallets: [...(asked ?? [])] },
    );
    return (found?.addresses ?? []).map((wallet, at) => ({
      wallet,
      vol_micro: found?.vols[at] ?? '0',
      pnl_micro: found?.pnls[at] ?? '0',
      rank: 1 + (found?.larger[at] ?? 0),
    }));
  }
}

function rowOf({ rank, wallet, vol_micro, pnl_micro }: Row): LeaderboardRow {
  return { rank, wallet, volMicro: Number(vol_micro), pnlMicro: Number(pnl_micro) };
}
