import {
  columnNames,
  createTableSql,
  type LeaderboardPeriod,
  leaderboardColumn,
  leaderboardPeriods,
  leaderboardTables,
} from '@pm/schemas';
import { LeaderboardSource } from '../../src/io/leaderboard-source.ts';
import { wallet } from '../in-memory.ts';
import { type FreshDatabase, freshDatabase } from './fresh-database.ts';

/** Ranks of single wallets, which are counted when they are asked for, against plain code. */
const snapshot = 1_800_000_000_000;
const periods = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];
const { wallets, runs } = leaderboardTables;
/** Few figures, so that many are equal; two thirds of the profits are losses or nothing. */
const rows = Array.from({ length: 300 }, (_, index) => ({
  category: index % 2,
  wallet: wallet(index),
  figures: periods.map((_, period) => ({
    vol: (index * 7 + period) % 5,
    pnl: ((index * 11 + period) % 7) - 4,
  })),
}));

let database: FreshDatabase;

beforeAll(async () => {
  database = await freshDatabase();
  const { clickhouse } = database;
  const [current] = await clickhouse.selectRows<{ readonly name: string }>(
    'SELECT currentDatabase() AS name',
  );
  for (const table of [wallets, runs])
    await clickhouse.command(createTableSql(table, current?.name ?? ''));
  const columns = ['snapshot', 'category', 'wallet'];
  for (const period of periods)
    columns.push(leaderboardColumn('vol', period), leaderboardColumn('pnl', period));
  const cells = rows.map(({ category, wallet: owner, figures }) => [
    snapshot,
    category,
    owner,
    ...figures.flatMap(({ vol, pnl }) => [vol, pnl]),
  ]);
  await clickhouse.insertRows(wallets.name, columns, cells);
  // Of another computation: must not count.
  await clickhouse.insertRows(
    wallets.name,
    columns,
    cells.map(([, ...rest]) => [snapshot - 1, ...rest]),
  );
  await clickhouse.insertRows(runs.name, columnNames(runs), [[snapshot - 1], [snapshot]]);
}, 60_000);

afterAll(async () => {
  await database?.drop();
}, 30_000);

test('a wallet ranks behind all listed ones with more, in every board', async () => {
  const source = new LeaderboardSource(database.clickhouse, () => snapshot);
  const asked = rows.slice(0, 60).map((row) => row.wallet);
  for (const [at, period] of periods.entries())
    for (const orderBy of ['VOL', 'PNL'] as const) {
      const figures = rows
        .filter(({ category }) => category === 1)
        .map((row) => ({ wallet: row.wallet, ...(row.figures[at] ?? { vol: 0, pnl: 0 }) }))
        .filter(({ vol, pnl }) => vol !== 0 || pnl !== 0);
      const value = (one: { vol: number; pnl: number }) => (orderBy === 'VOL' ? one.vol : one.pnl);
      const expected = figures
        .filter((one) => asked.includes(one.wallet))
        .map((one) => ({
          rank: 1 + figures.filter((other) => value(other) > value(one)).length,
          wallet: one.wallet,
          volMicro: one.vol,
          pnlMicro: one.pnl,
        }))
        .sort((one, other) => one.rank - other.rank || (one.wallet < other.wallet ? -1 : 1));
      const search = { category: 1, period, orderBy, limit: 10, offset: 5, wallets: asked };
      const page = await source.read(search);
      expect(page).toEqual({ atMs: snapshot, rows: expected.slice(5, 15) });
    }
});
