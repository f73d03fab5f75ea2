import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { otherColumns } from '@pm/deploy/setup/tables';
import { openClickHouse } from '@pm/kit/clickhouse';
import { clickhouseAccount } from '@pm/kit/config';
import { silentLog } from '@pm/kit/log';
import { tableSettings } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import { clickhouseRoles } from '../roles/roles.ts';
import {
  type Grant,
  judgeDeduplication,
  judgeEngines,
  judgeOwnRights,
  judgeRole,
  judgeServers,
  judgeTables,
  judgeVersion,
} from './clickhouse-judges.ts';
import { judgeClock, readClock } from './clock.ts';
import { type Need, need } from './need.ts';
import type { PreflightOptions } from './options.ts';

/** ClickHouse, as needs are asked of it. */
export type ClickhouseEngine = Awaited<ReturnType<typeof openTables>>;

/** Connects and signs in. */
export async function openTables({ addresses }: PreflightOptions) {
  // A server refuses every statement that comes with the name of a missing database.
  const account = { ...clickhouseAccount(addresses), database: 'default' };
  const open = () => openClickHouse({ ...account, log: silentLog });
  const clickhouse = open();
  const ask = async (sql: string, params: Readonly<Record<string, string>> = {}) =>
    await clickhouse.selectRows<Readonly<Record<string, string | null>>>(sql, params);
  try {
    await ask('SELECT 1 AS one');
  } catch (error) {
    await clickhouse.close();
    throw error;
  }
  return {
    clickhouse,
    open,
    ask,
    database: addresses.clickhouseDatabase,
    close: () => clickhouse.close(),
  };
}

/** Everything that is needed of ClickHouse. */
export const clickhouseNeeds: readonly Need<ClickhouseEngine>[] = [
  need({ name: 'version', page: 'clickhouse.md', ask: readVersion, judge: judgeVersion }),
  need({ name: 'one server', page: 'clickhouse.md', ask: readServers, judge: judgeServers }),
  need({ name: 'plain engines', page: 'clickhouse.md', ask: readEngines, judge: judgeEngines }),
  need({
    name: 'tables that exist',
    page: 'audit-and-rebuild.md',
    ask: async ({ clickhouse, database }) => {
      const others = await otherColumns(clickhouse, database, Object.values(tables));
      return others.map(({ name }) => name);
    },
    judge: judgeTables,
  }),
  need({
    name: 'deduplication of inserts',
    page: 'clickhouse.md',
    ask: async ({ ask }) => {
      const sql = "SELECT value FROM system.settings WHERE name = 'insert_deduplicate'";
      return (await ask(sql))[0]?.['value'] ?? null;
    },
    judge: judgeDeduplication,
  }),
  need({
    name: 'rights of set-up',
    page: 'clickhouse.md',
    ask: readOwnRights,
    judge: judgeOwnRights,
  }),
  ...clickhouseRoles.map((role) =>
    need({
      name: `rights of ${role.name}`,
      page: 'clickhouse.md',
      ask: async ({ ask, database }: ClickhouseEngine) => ({
        role,
        database,
        grants: await readGrants(ask, role.name),
      }),
      judge: judgeRole,
    }),
  ),
  need({
    name: 'clock',
    page: 'clickhouse.md',
    ask: ({ ask }) =>
      readClock(async () => {
        const [row] = await ask('SELECT toUnixTimestamp64Milli(now64(3)) AS now');
        return Number(row?.['now']);
      }),
    judge: judgeClock,
  }),
];

async function readVersion({ ask }: ClickhouseEngine) {
  const all = [...Object.values(tables), ...Object.values(leaderboardTables)];
  const owed = new Set(all.flatMap(tableSettings).map((setting) => setting.split(' = ')[0] ?? ''));
  const known = await ask('SELECT name FROM system.merge_tree_settings');
  const names = new Set(known.map(({ name }) => name));
  const [row] = await ask('SELECT version() AS version');
  return {
    version: row?.['version'] ?? '',
    unknownSettings: [...owed].filter((name) => !names.has(name)),
  };
}

/** Each on a connection of its own: a balancer chooses by connection. */
const connectionsAsked = 5;

async function readServers({ open }: ClickhouseEngine): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let count = 0; count < connectionsAsked; count += 1) {
    const one = open();
    const sql = 'SELECT concat(hostName(), toString(serverUUID())) AS server';
    const rows = await one.selectRows<{ server: string }>(sql).finally(() => one.close());
    for (const { server } of rows) found.add(server);
  }
  return found;
}

async function readEngines({ ask, database }: ClickhouseEngine) {
  const sql = 'SELECT engine FROM system.databases WHERE name = {database:String}';
  const [found] = await ask(sql, { database });
  const [cloud] = await ask("SELECT value FROM system.settings WHERE name = 'cloud_mode'");
  return { database: found?.['engine'] ?? null, isCloud: cloud?.['value'] === '1' };
}

/** Privileges that set-up and a rebuild use. */
const setupPrivileges = ['CREATE DATABASE', 'CREATE TABLE', 'ALTER TABLE', 'DROP TABLE', 'INSERT'];

async function readOwnRights({
  clickhouse,
  database,
}: ClickhouseEngine): Promise<readonly string[]> {
  const lacking: string[] = [];
  for (const privilege of setupPrivileges) {
    // The statement takes no FORMAT.
    const sink = new PassThrough();
    const asked = clickhouse.copyTo(sink, `CHECK GRANT ${privilege} ON \`${database}\`.*`);
    const [answer] = await Promise.all([text(sink), asked]);
    if (answer.trim() !== '1') lacking.push(privilege);
  }
  return lacking;
}

/** The grants of a role as the server lists them; null where it has no such role. */
export async function readGrants(
  ask: ClickhouseEngine['ask'],
  role: string,
): Promise<readonly Grant[] | null> {
  const found = await ask('SELECT name FROM system.roles WHERE name = {role:String}', { role });
  if (found.length === 0) return null;
  const rows = await ask(
    'SELECT access_type, database, table FROM system.grants WHERE role_name = {role:String}',
    { role },
  );
  return rows.map((row) => ({
    privilege: row['access_type'] ?? '',
    database: row['database'] ?? null,
    table: row['table'] ?? null,
  }));
}
