import { openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../../kit/test/engines.ts';
import { compareTable } from '../../src/rebuild/compare.ts';
import { insertMadeUp } from '../export/made-up-rows.ts';

const access = { url: engineUrl('CLICKHOUSE'), user: 'default', password: '', log: silentLog };
const databases = { served: `served_${process.pid}`, rebuilt: `rebuilt_${process.pid}` };
const { orderEvents } = tables;
const server = openClickHouse({ ...access, database: 'default' });

beforeAll(async () => {
  for (const database of Object.values(databases)) {
    await server.command(`CREATE DATABASE ${database}`);
    await server.command(createTableSql(orderEvents, database));
    const clickhouse = openClickHouse({ ...access, database });
    const rows = { fromMs: Date.UTC(2026, 5, 1), rows: 50, spreadMs: 1_000, shift: 0 };
    await insertMadeUp(clickhouse, orderEvents, rows);
    await clickhouse.close();
  }
}, 60_000);

afterAll(async () => {
  for (const database of Object.values(databases))
    await server.command(`DROP DATABASE IF EXISTS ${database}`);
  await server.close();
}, 30_000);

test('finds a changed cell of a row that has NULLs, and what stands in place of one', async () => {
  const compared = async () => (await compareTable(server, orderEvents, databases)).difference;
  expect(await compared()).toBeNull();
  const served = `\`${databases.served}\`.${orderEvents.name}`;
  /** A row of `insertMadeUp` in which all is NULL that may be. */
  const write = (cells: string, index: 4 | 9) =>
    server.command(
      `INSERT INTO ${served} SELECT * REPLACE (${cells}) FROM ${served} FINAL WHERE event_index = ${index}`,
    );
  await write('resting + 1 AS resting', 4);
  expect(await compared()).toMatchObject({ changed: 1 });
  await write('0 AS outcome', 9);
  expect(await compared()).toMatchObject({ missing: 0, extra: 0, changed: 2 });
});
