import type { HttpApp } from '@pm/kit/http';
import { columnNames, createTableSql } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import { Dice } from '../../../kit/test/hostile/dice.ts';
import { at, type FreshDatabase, freshDatabase } from '../fresh-database.ts';
import {
  databaseTexts,
  hostileRead,
  openHostileListener,
  partsOver,
  ReadJudge,
  RequestedNames,
  readers,
  readRoutes,
  readsWith,
} from '../hostile-fixture.ts';
import { World, wallet } from '../in-memory.ts';

/**
 * Hostile reads against real tables: ClickHouse takes every parameter that query-api lets through, and nothing of it as
 * SQL.
 */
const randomReads = 2_000;
const day = Date.UTC(2026, 5, 1) / 1000;

let database: FreshDatabase;
let app: HttpApp;
const world = new World();
const requested = new RequestedNames();
const dice = new Dice(20_261_122);
const judge = new ReadJudge();

beforeAll(async () => {
  database = await freshDatabase();
  const costs = { cost: '1', total_bought: '1', realized_pnl: '0', version: 1 };
  await database.fill(tables.holders, [
    { market: 1, outcome: 0, wallet: wallet(1), size: '5', ...costs },
    { market: 2, outcome: 1, wallet: wallet(2), size: '7', ...costs },
  ]);
  await database.fill(tables.midpoints, [
    {
      market: 1,
      bucket: at(day).slice(0, 19),
      midpoint: '0.5',
      bid: '0.4',
      ask: '0.6',
      version: 1,
    },
  ]);
  await computeLeaderboards();
  app = openHostileListener(partsOver(world, database.clickhouse), requested);
}, 60_000);

afterAll(async () => {
  await app?.close();
  await database?.drop();
}, 30_000);

/** They are no projections; before the first computation reads of them are 503. */
async function computeLeaderboards(): Promise<void> {
  const { clickhouse } = database;
  const { name } = await clickhouse
    .selectRows<{ name: string }>('SELECT currentDatabase() AS name')
    .then(([row]) => row ?? { name: '' });
  for (const table of Object.values(leaderboardTables)) {
    await clickhouse.command(createTableSql(table, name));
  }
  const { runs } = leaderboardTables;
  await clickhouse.insertRows(runs.name, columnNames(runs), [[1]]);
}

/** Contents of the tables, so that a statement that changed something would be seen. */
async function contents(): Promise<unknown> {
  const { clickhouse } = database;
  const names = await clickhouse.selectRows(
    'SELECT name, total_rows FROM system.tables WHERE database = currentDatabase() ORDER BY name',
  );
  return [
    names,
    await clickhouse.selectRows(`SELECT * FROM ${tables.holders.name} ORDER BY wallet`),
  ];
}

test('thousands of hostile reads are answered as documented and change nothing', async () => {
  const before = await contents();
  const send = async (hostile: Parameters<ReadJudge['send']>[1]) => {
    world.caller = dice.pick(readers);
    world.verified.length = 0;
    await judge.send(app, hostile);
  };
  for (let count = 0; count < randomReads; count += 1) {
    await send(hostileRead(dice.pick(readRoutes), requested, dice));
  }
  for (const route of readRoutes) {
    for (const text of databaseTexts.slice(0, 4)) {
      for (const hostile of readsWith(text, route, requested, dice)) await send(hostile);
    }
  }
  expect(judge.wrong).toEqual([]);
  expect(judge.sent).toBeGreaterThan(3_000);
  expect(judge.statuses.get(200)).toBeGreaterThan(300);
  expect(await contents()).toEqual(before);
}, 600_000);
