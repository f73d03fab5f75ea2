import type { ClickHouse } from '@pm/kit/clickhouse';
import { columnNames, leaderboardTables, tables } from '@pm/schemas';
import { walletSlices } from './slices.ts';
import { positionsSql, pricesSql, topsSql, walletsSql } from './statements.ts';

/** Rows of one insert. */
const ROWS_AT_ONCE = 50_000;

const { categories, prices, sums, wallets, tops, runs } = leaderboardTables;

/** One computation. */
export interface LeaderboardRun {
  /** What it is as of, and its snapshot. */
  readonly nowMs: number;
  /** Positions of one slice, more or less; default a million. */
  readonly positionsAtOnce?: number;
}

/**
 * Computes all leaderboards as of now and serves them at once (definitions.md). Wallets are taken slice by slice, so a statement
 * holds no more than a slice in memory whatever the history.
 */
export async function computeLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'insertRows' | 'selectRows'>,
  masks: readonly (readonly [market: number, mask: number])[],
  { nowMs, positionsAtOnce }: LeaderboardRun,
): Promise<void> {
  const snapshot = nowMs;
  // The minute under way counts whole: what happened is all before its end.
  const now = Math.floor(nowMs / 60_000) * 60;
  const rows = masks.map(([market, mask]) => [snapshot, market, mask]);
  for (let index = 0; index < rows.length; index += ROWS_AT_ONCE) {
    const some = rows.slice(index, index + ROWS_AT_ONCE);
    await clickhouse.insertRows(categories.name, columnNames(categories), some);
  }
  await clickhouse.command(pricesSql, { snapshot, now });
  const [held] = await clickhouse.selectRows<{ readonly positions: string }>(
    `SELECT toString(count()) AS positions FROM ${tables.positions.name}`,
  );
  for (const { from, to } of walletSlices(Number(held?.positions ?? 0), positionsAtOnce)) {
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

/** Whoever reads now may still read the one before. */
const KEPT = 2;

/** Drops what no reader looks at any more. */
export async function dropOldLeaderboards(
  clickhouse: Pick<ClickHouse, 'command' | 'selectRows'>,
): Promise<void> {
  const kept = await clickhouse.selectRows<{ readonly snapshot: string }>(
    `SELECT toString(snapshot) AS snapshot FROM ${runs.name} ORDER BY ${runs.name}.snapshot DESC LIMIT ${KEPT}`,
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
      // A later one is under way.
      if (served.has(partition) || Number(partition) > newest) continue;
      await clickhouse.command(`ALTER TABLE ${name} DROP PARTITION ${Number(partition)}`);
    }
  }
}
