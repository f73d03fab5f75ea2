import type { Position } from '@pm/domain/positions/position';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import { BatchInserts } from '../../src/tables/batch-inserts.io.ts';
import { JoinedTables } from '../../src/tables/joined-tables.io.ts';
import { cleanOpenOrders } from '../../src/tables/open-orders-cleanup.io.ts';
import {
  openProjectionTables,
  type ProjectionTables,
} from '../../src/tables/projection-tables.io.ts';
import { TableViews } from '../../src/views/table-views.ts';
import { appendedMs, TinyExchange } from '../log.ts';
import { cellsOf, type Row, rowsWith } from './cells.ts';

const database = `projectors_test_${process.pid}`;
let clickhouse: ClickHouse;
let projected: ProjectionTables;

beforeAll(async () => {
  const account = { user: 'default', password: '', log: silentLog, url: engineUrl('CLICKHOUSE') };
  const system = openClickHouse({ ...account, database: 'default' });
  await system.command(`CREATE DATABASE ${database}`);
  await system.close();
  clickhouse = openClickHouse({ ...account, database });
  for (const table of Object.values(tables))
    await clickhouse.command(createTableSql(table, database));
  projected = openProjectionTables(clickhouse);
}, 60_000);

afterAll(async () => {
  await clickhouse?.command(`DROP DATABASE IF EXISTS ${database}`);
  await clickhouse?.close();
});

async function countOf(table: string): Promise<number> {
  const rows = await clickhouse.selectRows<{ n: string }>(
    `SELECT toString(count()) AS n FROM ${table}`,
  );
  return Number(rows[0]?.n);
}

function insertsTo(identity: string, commits: string[]): BatchInserts {
  return new BatchInserts({
    tables: projected,
    joined: new JoinedTables(projected),
    topicPrefix: 'test-',
    partition: 0,
    commit: async (offset, metadata) => {
      commits.push(`${offset}/${metadata}`);
    },
    onInserted: () => {},
    onUnused: () => {},
    onRetry: () => {},
    onHeld: () => {},
    retryForMs: 0,
    isClosed: () => false,
    identity,
  });
}

describe('the tables in ClickHouse', () => {
  test('take every kind of row, and a batch that is sent again changes no count', async () => {
    const records = new TinyExchange(11).records(300);
    const views = new TableViews(0, { positions: [], candles: [] });
    for (const record of records) views.fold(record, appendedMs(record));
    const rows = views.take();
    const commits: string[] = [];
    const { identity } = await projected.guard();
    await insertsTo(identity, commits).write({ from: 0, to: 300 }, rows);
    await insertsTo(identity, commits).write({ from: 0, to: 300 }, rows);
    for (const one of rows) {
      const { table } = one;
      const sent = cellsOf(one);
      // Rows of one order replace each other as they are inserted.
      const isReplaced = table === tables.openOrders;
      const due = isReplaced ? new Set(sent.map((row) => `${row[0]} ${row[1]}`)).size : sent.length;
      expect([table.name, await countOf(table.name)]).toEqual([table.name, due]);
    }
    expect(commits).toEqual(['0/300', '300/', '0/300', '300/']);
  }, 60_000);

  test('lose the rows of ended orders when they are cleaned, and nothing else', async () => {
    const name = tables.openOrders.name;
    await clickhouse.command(`TRUNCATE TABLE ${name}`);
    const row = (order: number, version: number, ended: number): Row => [
      ...[`0x${'1'.repeat(40)}`, `0x${String(order).padStart(64, '0')}`, 'k'.repeat(36)],
      ...[1, 0, '2026-01-01 00:00:00.000', 0, version, ended],
    ];
    const insert = (token: string, rows: readonly Row[]) =>
      projected.insert(rowsWith(tables.openOrders, rows), token);
    await insert('open:1', [row(1, 1, 0), row(2, 2, 0)]);
    await insert('open:2', [row(1, 3, 1), row(3, 3, 0)]);
    expect(await countOf(`${name} FINAL`)).toBe(2);
    await cleanOpenOrders(clickhouse);
    expect(await countOf(name)).toBe(2);
    await insert('open:3', [row(2, 4, 1)]);
    expect(await countOf(`${name} FINAL`)).toBe(1);
  }, 60_000);

  test('restore the state that the views had', async () => {
    const exchange = new TinyExchange(12);
    const before = exchange.records(200);
    const after = exchange.records(100);
    await clickhouse.command(`TRUNCATE TABLE ${tables.positions.name}`);
    await clickhouse.command(`TRUNCATE TABLE ${tables.candles.name}`);
    const straight = new TableViews(0, { positions: [], candles: [] });
    for (const record of before) straight.fold(record, appendedMs(record));
    for (const one of straight.take()) await projected.insert(one, `again:${one.table.name}`);
    const positions: Position[] = [];
    for await (const position of projected.positions(0)) positions.push(position);
    const lastMs = before.at(-1)?.timeMs ?? 0;
    const minuteMs = lastMs - (lastMs % 60_000);
    const restored = new TableViews(0, {
      positions,
      candles: await projected.candles(minuteMs, minuteMs),
    });
    const resolved = before.flatMap(({ events }) =>
      events.flatMap((event) => (event.kind === 'MarketResolved' ? [event] : [])),
    );
    const payouts = new Map(resolved.map(({ market, payout0 }) => [market, payout0]));
    for (const record of after) {
      straight.fold(record, appendedMs(record));
      // As the projection does with the payout from the catalog.
      for (const market of restored.payoutsNeeded(record))
        restored.knowPayout(market, payouts.get(market) ?? Number.NaN);
      restored.fold(record, appendedMs(record));
    }
    expect(positions.length).toBeGreaterThan(10);
    expect(restored.take()).toEqual(straight.take());
  }, 60_000);
});
