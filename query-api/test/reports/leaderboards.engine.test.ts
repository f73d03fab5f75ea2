import { columnNames, createTableSql } from '@pm/schemas/tables/create-table';
import {
  type LeaderboardPeriod,
  leaderboardColumn,
  leaderboardPeriods,
  leaderboardTables,
} from '@pm/schemas/tables/leaderboard-tables';
import type { LeaderboardRow, LeaderboardSearch } from '../../src/reports/leaderboard-query.ts';
import { Leaderboards } from '../../src/reports/newest-leaderboards.io.ts';
import { type FreshDatabase, freshDatabase } from '../fresh-database.ts';
import { wallet } from '../in-memory.ts';

/** Reads of computations, at hand or not, are compared with plain code for each period and order. */
const periods = Object.keys(leaderboardPeriods) as LeaderboardPeriod[];
const orders = ['VOL', 'PNL'] as const;
const { wallets, tops, runs } = leaderboardTables;

interface Figures {
  readonly vol: number;
  readonly pnl: number;
}

interface Trader {
  readonly category: number;
  readonly wallet: string;
  /** One entry a period. */
  readonly figures: readonly Figures[];
}

/**
 * Few figures, so that many are equal; two thirds of the profits are losses or nothing, and one in seven wallets is not
 * listed.
 */
const tradersOf = (seed: number): readonly Trader[] =>
  Array.from({ length: 300 }, (_, index) => ({
    category: index % 2,
    wallet: wallet(index),
    figures: periods.map((_, period) =>
      (index + seed) % 7 === 0
        ? { vol: 0, pnl: 0 }
        : { vol: (index * 7 + period + seed) % 5, pnl: ((index * 11 + period + seed) % 7) - 4 },
    ),
  }));

type BoardName = Pick<LeaderboardSearch, 'category' | 'period' | 'orderBy'>;

/** The naive twin: all listed wallets, ranked. */
function rankedOf(
  traders: readonly Trader[],
  { category, period, orderBy }: BoardName,
): LeaderboardRow[] {
  const listed = traders
    .filter((trader) => trader.category === category)
    .map((trader) => ({ wallet: trader.wallet, ...trader.figures[periods.indexOf(period)] }))
    .map(({ wallet: owner, vol = 0, pnl = 0 }) => ({ wallet: owner, vol, pnl }))
    .filter(({ vol, pnl }) => vol !== 0 || pnl !== 0);
  const value = (one: Figures) => (orderBy === 'VOL' ? one.vol : one.pnl);
  return listed
    .map((one) => ({
      rank: 1 + listed.filter((other) => value(other) > value(one)).length,
      wallet: one.wallet,
      volMicro: one.vol,
      pnlMicro: one.pnl,
    }))
    .sort((one, other) => one.rank - other.rank || (one.wallet < other.wallet ? -1 : 1));
}

const boards = periods.flatMap((period) =>
  orders.flatMap((orderBy) => [0, 1].map((category) => ({ category, period, orderBy }))),
);
const requested = tradersOf(0)
  .slice(0, 60)
  .map((trader) => trader.wallet);

let database: FreshDatabase;
let snapshot = 1_800_000_000_000;

/** A computation as projectors leave it, served from its last row on. */
async function compute(seed: number): Promise<{ readonly at: number; serve(): Promise<void> }> {
  const { clickhouse } = database;
  snapshot += 15_000;
  const at = snapshot;
  const traders = tradersOf(seed);
  const columns = ['snapshot', 'category', 'wallet'];
  for (const period of periods)
    columns.push(leaderboardColumn('vol', period), leaderboardColumn('pnl', period));
  const cells = traders.map(({ category, wallet: owner, figures }) => [
    ...[at, category, owner],
    ...figures.flatMap(({ vol, pnl }) => [vol, pnl]),
  ]);
  await clickhouse.insertRows(wallets.name, columns, cells);
  const places = boards.flatMap((board) =>
    rankedOf(traders, board).map((row, place) => [
      ...[at, board.period, board.category, board.orderBy, place + 1],
      ...[row.rank, row.wallet, row.volMicro, row.pnlMicro],
    ]),
  );
  await clickhouse.insertRows(tops.name, columnNames(tops), places);
  return { at, serve: () => clickhouse.insertRows(runs.name, columnNames(runs), [[at]]) };
}

async function drop(at: number): Promise<void> {
  for (const { name } of [wallets, tops])
    await database.clickhouse.command(`ALTER TABLE ${name} DROP PARTITION ${at}`);
}

beforeAll(async () => {
  database = await freshDatabase();
  const { clickhouse } = database;
  const [current] = await clickhouse.selectRows<{ readonly name: string }>(
    'SELECT currentDatabase() AS name',
  );
  for (const table of [wallets, tops, runs])
    await clickhouse.command(createTableSql(table, current?.name ?? ''));
}, 60_000);

beforeEach(async () => {
  for (const { name } of [wallets, tops, runs])
    await database.clickhouse.command(`TRUNCATE TABLE ${name}`);
});

afterAll(async () => {
  await database?.drop();
}, 30_000);

/** Counts the statements that a source sends, by what they read. */
function counted() {
  const sent: string[] = [];
  const note = (sql: string) => sent.push(/FROM (\w+)/.exec(sql)?.[1] ?? '');
  const { clickhouse } = database;
  return {
    sent,
    clickhouse: {
      selectRows: <T>(...args: Parameters<typeof clickhouse.selectRows>) => {
        note(args[0]);
        return clickhouse.selectRows<T>(...args);
      },
    },
  };
}

const page = (board: BoardName, offset = 0): LeaderboardSearch => ({
  ...board,
  limit: 25,
  offset,
  wallets: null,
});
const ofWallets = (board: BoardName): LeaderboardSearch => ({
  ...board,
  limit: 10,
  offset: 5,
  wallets: requested,
});

test('ranks and pages are those of plain code, whether they are counted or at hand', async () => {
  await (await compute(1)).serve();
  const { at, serve } = await compute(2);
  await serve();
  const source = new Leaderboards(database.clickhouse, () => at);
  // The first rounds count in the table; after the third all figures are at hand.
  for (let round = 0; round < 5; round += 1)
    for (const board of boards) {
      const expected = rankedOf(tradersOf(2), board);
      const listed = expected.filter((row) => requested.includes(row.wallet));
      expect(await source.read(ofWallets(board))).toEqual({ atMs: at, rows: listed.slice(5, 15) });
      for (const offset of [0, 100, 1_000])
        expect(await source.read(page(board, offset))).toEqual({
          atMs: at,
          rows: expected.slice(offset, offset + 25),
        });
    }
}, 120_000);

test('a newer computation is served whole, with the requested boards prepared', async () => {
  const [board = null, other = null] = boards;
  if (board === null || other === null) throw new Error('there are boards');
  const first = await compute(3);
  await first.serve();
  const { sent, clickhouse } = counted();
  let nowMs = first.at;
  const source = new Leaderboards(clickhouse, () => nowMs);
  for (let times = 0; times < 6; times += 1) await source.read(ofWallets(board));
  await source.read(page(board));
  const second = await compute(4);
  expect((await source.read(page(board))).atMs).toBe(first.at);
  await second.serve();
  nowMs += 1_000;
  expect((await source.read(page(board))).atMs).toBe(first.at);
  expect(await source.refresh()).toBe(1_000);
  sent.length = 0;
  const expected = rankedOf(tradersOf(4), board);
  const rows = expected.filter((row) => requested.includes(row.wallet)).slice(5, 15);
  expect(await source.read(page(board, 50))).toEqual({
    atMs: second.at,
    rows: expected.slice(50, 75),
  });
  expect(await source.read(ofWallets(board))).toEqual({ atMs: second.at, rows });
  expect(sent).toEqual([wallets.name]);
  expect((await source.read(page(other))).rows).toEqual(rankedOf(tradersOf(4), other).slice(0, 25));
  expect(sent).toEqual([wallets.name, tops.name]);
  // A board without anybody is believed to be empty once the computation is known to be there still.
  sent.length = 0;
  for (let times = 0; times < 3; times += 1)
    expect((await source.read(page({ ...board, category: 2 }))).rows).toEqual([]);
  expect(sent).toEqual([tops.name, runs.name]);
  // An unlisted wallet is looked for in a newer computation, which serves no other request before it is prepared.
  const third = await compute(8);
  await third.serve();
  const stranger = { ...page(board), wallets: [wallet(999)] };
  expect(await source.read(stranger)).toEqual({ atMs: third.at, rows: [] });
  expect((await source.read(page(board))).atMs).toBe(second.at);
  await source.refresh();
  sent.length = 0;
  expect((await source.read(page(board))).atMs).toBe(third.at);
  expect(sent).toEqual([]);
  nowMs += 61_000;
  expect(await source.refresh()).toBe(5_000);
});

test('dropped rows are read from the newest computation, and an unknown wallet is in none', async () => {
  const [board = null] = boards;
  if (board === null) throw new Error('there are boards');
  const first = await compute(5);
  await first.serve();
  for (const search of [
    page(board),
    ofWallets(board),
    { ...page(board), wallets: [wallet(999)] },
  ]) {
    const source = new Leaderboards(database.clickhouse, () => snapshot);
    await source.read({ ...page(board), category: 1 - board.category });
    const old = snapshot;
    const next = await compute(6);
    await next.serve();
    await drop(old);
    const fresh = new Leaderboards(database.clickhouse, () => snapshot);
    const answer = await source.read(search);
    expect(answer).toEqual(await fresh.read(search));
    expect(answer.rows.length > 0).toBe(search.wallets?.length !== 1);
  }
});

test('before the first computation nothing is made up', async () => {
  const source = new Leaderboards(database.clickhouse, () => 0);
  const failed = { code: 'leaderboards_not_ready', reaction: 'retry' };
  for (const board of boards.slice(0, 2))
    await expect(source.read(page(board))).rejects.toMatchObject(failed);
  const { serve } = await compute(7);
  await serve();
  expect(
    (await source.read(page(boards[0] ?? { category: 0, period: 'ALL', orderBy: 'VOL' }))).rows,
  ).not.toEqual([]);
});
