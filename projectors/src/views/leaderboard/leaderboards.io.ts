import type { ClickHouse } from '@pm/kit/clickhouse';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import { columnNames } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import { viewsFirstMs } from '../../views-first.ts';
import type { MarketCategories } from './categories.ts';
import { walletSlices } from './slices.ts';
import { positionsSql, pricesSql, topsSql, walletsSql } from './statements.ts';

/** Maximum age of the leaderboards while a computation is short, milliseconds. */
const refreshEveryMs = 15_000;
/**
 * After a computation the process rests for at least this many times the shorter of its length and that of the one
 * before, so that others get the server: one alone may be long because the machine is busy, as at a start.
 */
const restTimes = 9;
/** Rows of one insert. */
const rowsPerInsert = 50_000;
/** Snapshots that stay: a reader of the newest may still read the one before. */
const keptSnapshots = 2;

const { categories, prices, sums, wallets, tops, runs } = leaderboardTables;

/**
 * Computes the leaderboards at intervals. Several processes may do so: a process that finds a fresh snapshot computes
 * none, and a snapshot is served only when it is complete. A failure is logged and the next interval tries again.
 */
export function scheduleLeaderboards(options: {
  readonly clickhouse: Pick<ClickHouse, 'command' | 'selectRows' | 'insertRows'>;
  readonly categories: Pick<MarketCategories, 'masks'>;
  readonly log: Log;
  nowMs(): number;
}): { close(): void } {
  const { clickhouse, log, nowMs } = options;
  let startedMs = performance.now();
  /** Length of the computation before, milliseconds. */
  let formerMs = 0;
  const restMs = () => {
    const tookMs = performance.now() - startedMs;
    const shorterMs = Math.min(tookMs, formerMs);
    formerMs = tookMs;
    return Math.max(refreshEveryMs, shorterMs * restTimes);
  };
  const rounds = runRounds({
    firstMs: viewsFirstMs,
    async round() {
      startedMs = performance.now();
      const newest = await newestLeaderboard(clickhouse);
      if (!isDue(nowMs() - newest)) return refreshEveryMs;
      const run = { nowMs: nowMs(), newest };
      await computeLeaderboards(clickhouse, options.categories.masks(), run);
      await dropOldLeaderboards(clickhouse);
      return restMs();
    },
    onFailure(error) {
      log.warn({ err: error }, 'leaderboards were not computed');
      return restMs();
    },
  });
  // A computation may take minutes: a stop does not wait for its end.
  return { close: () => void rounds.close() };
}

/** Whether a snapshot of this age is to be replaced; one of the future is of a clock that was set back since. */
function isDue(ageMs: number): boolean {
  return ageMs < 0 || ageMs >= refreshEveryMs / 2;
}

/** One computation. */
export interface LeaderboardRun {
  /** Time of the computation, Unix milliseconds; names its snapshot. */
  readonly nowMs: number;
  /** Name of the snapshot before; readers take the largest, so the next one is larger whatever the clock says. */
  readonly newest?: number;
  /** Approximate number of positions in one slice; default a million. */
  readonly positionsAtOnce?: number;
}

/**
 * Computes all leaderboards as of now and makes them visible at once (definitions.md). Wallets are taken slice by
 * slice, so a statement has no more than a slice in memory, whatever the history. `masks`: categories of the markets as
 * bits.
 */
export async function computeLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'insertRows' | 'selectRows'>,
  masks: readonly (readonly [market: number, mask: number])[],
  { nowMs, newest = 0, positionsAtOnce }: LeaderboardRun,
): Promise<void> {
  const snapshot = Math.max(nowMs, newest + 1);
  // The current minute counts as a whole: all its events are before its end.
  const now = Math.floor(nowMs / 60_000) * 60;
  const rows = masks.map(([market, mask]) => [snapshot, market, mask]);
  for (let index = 0; index < rows.length; index += rowsPerInsert) {
    const some = rows.slice(index, index + rowsPerInsert);
    await clickhouse.insertRows(categories.name, columnNames(categories), some);
  }
  await clickhouse.command(pricesSql, { snapshot, now });
  const [stored] = await clickhouse.selectRows<{ readonly positions: string }>(
    `SELECT toString(count()) AS positions FROM ${tables.positions.name}`,
  );
  for (const { from, to } of walletSlices(Number(stored?.positions ?? 0), positionsAtOnce)) {
    const slice = { snapshot, now, fromWallet: from, toWallet: to };
    await clickhouse.command(positionsSql, slice);
    await clickhouse.command(walletsSql, slice);
  }
  await clickhouse.command(topsSql, { snapshot });
  await clickhouse.command(`INSERT INTO ${runs.name} (snapshot) SELECT {snapshot:UInt64}`, {
    snapshot,
  });
}

/** Snapshot of the leaderboards that are served, Unix milliseconds; 0 before the first. */
export async function newestLeaderboard(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
): Promise<number> {
  const sql = `SELECT toString(max(snapshot)) AS newest FROM ${runs.name}`;
  const [row] = await clickhouse.selectRows<{ readonly newest: string }>(sql);
  return Number(row?.newest ?? 0);
}

/** Drops the snapshots that no reader uses any more. */
export async function dropOldLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'selectRows'>,
): Promise<void> {
  const kept = await clickhouse.selectRows<{ readonly snapshot: string }>(
    `SELECT toString(snapshot) AS snapshot FROM ${runs.name}
     ORDER BY ${runs.name}.snapshot DESC LIMIT ${keptSnapshots}`,
  );
  const served = new Set(kept.map(({ snapshot }) => snapshot));
  const newest = Math.max(0, ...[...served].map(Number));
  for (const { name } of [categories, prices, sums, wallets, tops]) {
    const parts = await clickhouse.selectRows<{ readonly partition: string }>(
      `SELECT DISTINCT partition FROM system.parts
       WHERE database = currentDatabase() AND table = {name:String} AND active`,
      { name },
    );
    for (const { partition } of parts) {
      // A newer one is still being computed.
      if (served.has(partition) || Number(partition) > newest) continue;
      await clickhouse.command(`ALTER TABLE ${name} DROP PARTITION ${Number(partition)}`);
    }
  }
}
