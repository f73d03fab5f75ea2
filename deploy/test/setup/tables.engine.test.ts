import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { changeableSettings } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrls } from '../../../acceptance/test/services-under-test.ts';
import { addressesOf } from '../../src/installation/read-addresses.ts';
import { setUpTables } from '../../src/setup/tables.ts';

const database = `set_up_${process.pid}`;
const addresses = addressesOf(engineUrls(), { PM_CLICKHOUSE_DATABASE: database });
const account = { url: addresses.clickhouseUrl, user: 'default', password: '', log: silentLog };
let clickhouse: ClickHouse;

async function setUp() {
  const lines: string[] = [];
  const others = await setUpTables(addresses, (line) => lines.push(line));
  return { others, lines };
}

beforeAll(async () => {
  await setUp();
  clickhouse = openClickHouse({ ...account, database });
}, 60_000);

afterAll(async () => {
  await clickhouse?.command(`DROP DATABASE IF EXISTS ${database}`);
  await clickhouse?.close();
}, 30_000);

test('tables of this version are as declared, and are kept', async () => {
  const { others, lines } = await setUp();
  expect([others, lines]).toEqual([[], [expect.stringContaining(`in database ${database}`)]]);
});

test('tables of another version are named, with what to do, and stay as they are', async () => {
  await clickhouse.command(`ALTER TABLE ${tables.midpoints.name} DROP COLUMN bid`);
  await clickhouse.command(`ALTER TABLE ${tables.fills.name} MODIFY COLUMN fee_rate_bps UInt64`);
  const { others, lines } = await setUp();
  expect(others).toEqual([tables.fills.name, tables.midpoints.name]);
  expect(lines.at(-1)).toMatch(/fills, midpoints_1m.*npm run rebuild -- --halted/);
  expect(await setUp()).toEqual({ others, lines });
});

test('tables of a version with other settings get those of this one, and keep their rows', async () => {
  const { name } = tables.positions;
  const settings = async () => {
    const [row] = await clickhouse.selectRows<{ engine_full: string }>(
      `SELECT engine_full FROM system.tables WHERE database = '${database}' AND name = '${name}'`,
    );
    return row?.engine_full.split(' SETTINGS ')[1]?.split(', ') ?? [];
  };
  await clickhouse.command(`INSERT INTO ${name} (market) VALUES (7)`);
  const [first = ''] = changeableSettings(tables.positions);
  await clickhouse.command(`ALTER TABLE ${name} RESET SETTING ${first.split(' = ')[0]}`);
  await clickhouse.command(
    `ALTER TABLE ${name} MODIFY SETTING min_age_to_force_merge_seconds = 60`,
  );
  expect(await settings()).not.toContain(first);
  await setUp();
  expect(await settings()).toEqual(
    expect.arrayContaining([...changeableSettings(tables.positions)]),
  );
  expect(await clickhouse.selectRows(`SELECT market FROM ${name}`)).toEqual([{ market: 7 }]);
});

test('leaderboards of another version are created again', async () => {
  const { name, columns } = leaderboardTables.sums;
  await clickhouse.command(`ALTER TABLE ${name} ADD COLUMN older UInt8`);
  await setUp();
  const rows = await clickhouse.selectRows<{ name: string }>(
    `SELECT name FROM system.columns WHERE database = '${database}' AND table = '${name}'`,
  );
  expect(rows.map((row) => row.name).sort()).toEqual(columns.map((one) => one.name).sort());
});
