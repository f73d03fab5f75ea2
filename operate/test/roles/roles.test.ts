import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { columnNames, createTableSql } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { rebuildHold } from '@pm/schemas/tables/rebuild-hold';
import { tables } from '@pm/schemas/tables/tables';
import { workedQueries } from '@pm/schemas/tables/worked-queries';
import { cleanOpenOrders } from '../../../projectors/src/tables/open-orders-cleanup.io.ts';
import { openProjectionTables } from '../../../projectors/src/tables/projection-tables.io.ts';
import {
  computeLeaderboards,
  dropOldLeaderboards,
} from '../../../projectors/src/views/leaderboard/leaderboards.io.ts';
import { checkPrices } from '../../src/audit/state-tables.ts';
import { withRolesTable } from '../../src/documents/roles-table.ts';
import { planOf } from '../../src/export/plan.ts';
import { rowsSql, tableContentSql } from '../../src/export/statements.ts';
import { type ClickHouseRole, clickhouseRoles } from '../../src/roles/roles.ts';
import { roleStatements, rolesFile } from '../../src/roles/roles-sql.ts';
import { insertMadeUp } from '../export/made-up-rows.ts';
import { database, EngineAs } from './engine-as.ts';

/** Numbers of refusals (ClickHouse, src/Common/ErrorCodes.cpp). */
const denied = 497;
const readOnly = 164;
const constrained = 452;
const tooManyRows = 158;
const resultTooLong = 396;
const tooLate = 159;
const tooMuchMemory = 241;
const quotaExceeded = 201;
const tooManyQueries = 202;

const all = [...Object.values(tables), ...Object.values(leaderboardTables)];
const madeUp = {
  fromMs: Date.parse('2026-06-01T00:00:00Z'),
  rows: 500,
  spreadMs: 3_600_000,
  shift: 1,
};
const page = 'docs/operating/clickhouse.md';
const readText = (file: string) => readFileSync(join(repositoryRoot, file), 'utf8');

function roleNamed(name: string): ClickHouseRole {
  const role = clickhouseRoles.find((one) => one.name === name);
  if (role === undefined) throw new Error(`no role ${name}`);
  return role;
}

let folder: string;
let engine: EngineAs | null = null;

async function as(role: ClickHouseRole | null, more: readonly string[] = []): Promise<EngineAs> {
  engine?.close();
  engine = await EngineAs.open(folder, role, more);
  return engine;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pm-roles-'));
  const owner = await as(null);
  for (const table of all) await owner.command(createTableSql(table, database));
  for (const table of Object.values(tables)) await insertMadeUp(owner, table, madeUp);
}, 120_000);

afterAll(() => {
  engine?.close();
  rmSync(folder, { recursive: true });
});

describe('the file of roles', () => {
  test('is what the declarations say (npm run docs), and so is the page about it', () => {
    expect(readText('deploy/clickhouse/roles.sql')).toBe(rolesFile(clickhouseRoles, database));
    const text = readText(page);
    expect(withRolesTable(text)).toBe(text);
    for (const { name } of clickhouseRoles) expect(text).toContain(`\`${name}\``);
  });

  test('names every table', () => {
    for (const { name } of all)
      expect(readText('deploy/clickhouse/roles.sql')).toContain(`pm.${name}`);
  });

  test('is read by the parser of ClickHouse, statement by statement', async () => {
    const owner = await as(null);
    const statements = roleStatements(clickhouseRoles, database);
    expect(statements.length).toBeGreaterThan(clickhouseRoles.length * 2);
    for (const statement of statements) {
      const kind = /^CREATE (ROLE|SETTINGS PROFILE|QUOTA)/.exec(statement)?.[1] ?? 'GRANT';
      const tree = await owner.text(`EXPLAIN AST ${statement}`);
      expect(tree.toLowerCase()).toContain(`${kind.replaceAll(' ', '').toLowerCase()}query`);
    }
    const users = /```sql\n(CREATE USER[\s\S]*?)```/.exec(readText(page))?.[1] ?? '';
    const examples = users.split(';').filter((one) => one.trim() !== '');
    expect(examples.length).toBe(6);
    for (const one of examples) expect(await owner.refusal(`EXPLAIN AST ${one}`)).toBe(0);
    expect(await owner.refusal('EXPLAIN AST GRANT SELEKT ON pm.fills TO pm_reader')).toBe(62);
  });

  test.each(clickhouseRoles.map(({ name }) => name))(
    'says of %s what the engine of these tests holds it to',
    async (name) => {
      const role = roleNamed(name);
      const looking = await as(role, ['GRANT SHOW ACCESS ON *.*']);
      const written = roleStatements([role], database).map(plain);
      const grants = (await looking.text(`SHOW GRANTS FOR ${name}`)).trim().split('\n');
      const held = grants.filter((grant) => !grant.includes('SHOW ACCESS'));
      expect(rightsOf(held)).toEqual(rightsOf(written.filter((text) => text.startsWith('GRANT'))));
      for (const kind of ['SETTINGS PROFILE', 'QUOTA']) {
        const shown = plain(await looking.text(`SHOW CREATE ${kind} ${name}`));
        const due = written.find((text) => text.startsWith(`CREATE ${kind}`));
        if (due !== undefined) expect(sorted(shown)).toEqual(sorted(due));
      }
    },
  );
});

/** A statement on one line, without what the two languages write differently and does not matter. */
function plain(sql: string): string {
  return sql
    .replace(/\s+/g, ' ')
    .replace(/(\d)\.(?=[ ,]|$)/g, '$1')
    .replace(/`|\\| OR REPLACE| WITH REPLACE OPTION/g, '')
    .replace(/ TO \w+ *$/, '')
    .trim();
}

/** The parts of a list in any order. */
function sorted(text: string): readonly string[] {
  return text
    .replace(/^(.*?) (SETTINGS|MAX) /, '$1, ')
    .split(', ')
    .sort();
}

/** `PRIVILEGE ON table` for each, in any order. */
function rightsOf(grants: readonly string[]): readonly string[] {
  const rights: string[] = [];
  for (const grant of grants)
    for (const [, privileges = '', table] of grant
      .slice(6)
      .matchAll(/([A-Z ,]+) ON (\S+?)(?:,|$| TO)/g))
      for (const one of privileges.split(','))
        if (one.trim() !== '') rights.push(`${one.trim()} ON ${table}`);
  return rights.sort();
}

/** Statements that only the owner of a table may run. */
const owners = (table: string): readonly string[] => [
  `DROP TABLE ${table}`,
  `TRUNCATE TABLE ${table}`,
  `ALTER TABLE ${table} ADD COLUMN more UInt8`,
  `ALTER TABLE ${table} UPDATE market = 1 WHERE 1`,
  `ALTER TABLE ${table} MODIFY COMMENT 'changed'`,
  `RENAME TABLE ${table} TO elsewhere`,
  `EXCHANGE TABLES ${table} AND holders`,
  'CREATE TABLE more (id UInt8) ENGINE = Memory',
  'CREATE VIEW more AS SELECT 1',
  'DROP DATABASE pm',
  'CREATE USER more',
  `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
  `SELECT * FROM url('http://127.0.0.1:1/', 'LineAsString')`,
  `SELECT * FROM remote('127.0.0.1:1', 'pm.fills')`,
  'SYSTEM FLUSH LOGS',
];

async function refusesOwners(engine: EngineAs): Promise<void> {
  for (const sql of owners(tables.fills.name)) {
    const refusal = await engine.refusal(sql);
    expect([sql, refusal === denied || refusal === readOnly]).toEqual([sql, true]);
  }
  expect(await engine.refusal('SELECT name FROM system.users')).toBe(denied);
}

const insertions = Object.values(tables).map(
  ({ name, ...table }) =>
    `INSERT INTO ${name} SELECT ${columnNames({ name, ...table }).join(', ')} FROM ${name} LIMIT 0`,
);

describe('the writer', () => {
  test('does all that projectors do', async () => {
    const writer = await as(roleNamed('pm_writer'));
    await writer.limitAsServicesDo();
    for (const sql of insertions) expect([sql, await writer.refusal(sql)]).toEqual([sql, 0]);
    const nowMs = madeUp.fromMs + madeUp.spreadMs;
    for (const later of [0, 60_000, 120_000])
      await computeLeaderboards(writer, [[3, 5]], { nowMs: nowMs + later });
    const { name } = leaderboardTables.wallets;
    const count = `SELECT uniqExact(snapshot) FROM ${name}`;
    expect((await writer.text(count)).trim()).toBe('3');
    await dropOldLeaderboards(writer);
    expect((await writer.text(count)).trim()).toBe('2');
    await cleanOpenOrders(writer);
  }, 60_000);

  test('sees that tables are held, and which ones they are', async () => {
    const owner = await as(null);
    await owner.command(createTableSql(rebuildHold, database));
    const writer = await as(roleNamed('pm_writer'));
    await writer.limitAsServicesDo();
    const names = [tables.completeness.name, rebuildHold.name];
    const seen = `SELECT count() FROM system.tables WHERE database = currentDatabase() AND name IN ('${names.join("', '")}')`;
    expect((await writer.text(seen)).trim()).toBe('2');
    expect(await writer.refusal(`SELECT max(until) > now64(3) FROM ${rebuildHold.name}`)).toBe(0);
  });

  test('sees that a rebuild holds the tables', async () => {
    const owner = await as(null);
    await owner.command(createTableSql(rebuildHold, database));
    await owner.command(`INSERT INTO ${rebuildHold.name} SELECT now64(3) + INTERVAL 1 HOUR`);
    const store = openProjectionTables((await as(roleNamed('pm_writer'))).asClient());
    const { identity, isHeld } = await store.guard();
    expect([identity.length, isHeld]).toEqual([36, true]);
    await (await as(null)).command(`DROP TABLE ${rebuildHold.name} SYNC`);
    expect(
      (await openProjectionTables((await as(roleNamed('pm_writer'))).asClient()).guard()).isHeld,
    ).toBe(false);
  });

  test('drops no table and no rows of what the log says', async () => {
    const writer = await as(roleNamed('pm_writer'));
    await refusesOwners(writer);
    for (const { name } of Object.values(tables)) {
      expect(await writer.refusal(`ALTER TABLE ${name} DROP PARTITION ID 'all'`)).toBe(denied);
      expect(await writer.refusal(`ALTER TABLE ${name} DELETE WHERE 1`)).toBe(denied);
      expect(await writer.refusal(`DELETE FROM ${name} WHERE 1`)).toBe(denied);
    }
  });
});

describe('the reader', () => {
  /** Distinct matches of the first group in the queries of query-api. */
  function mentioned(holder: RegExp): readonly string[] {
    const sources = readdirSync(join(repositoryRoot, 'query-api/src'), { recursive: true });
    const files = sources.map(String).filter((name) => name.endsWith('.io.ts'));
    const texts = [
      ...files.map((name) => `query-api/src/${name}`),
      'schemas/src/tables/past-book.ts',
    ].map(readText);
    return [
      ...new Set(texts.flatMap((text) => [...text.matchAll(holder)].map(([, name = '']) => name))),
    ];
  }

  test('reads the tables that query-api reads, and no others', async () => {
    const granted = roleNamed('pm_reader').rights.flatMap((right) => right.tables);
    const named = (name: string) => tables[name as keyof typeof tables].name;
    const projected = mentioned(/\btables\.(\w+)/g)
      .filter((name) => name in tables)
      .map(named);
    const boards = mentioned(/\$\{(runs|tops|wallets)\.name\}/g).map(
      (name) => `leaderboard_${name}`,
    );
    const ofSystem = mentioned(/FROM system\.(\w+)/g);
    expect([...granted].sort()).toEqual([...projected, ...boards, ...ofSystem].sort());
    const reader = await as(roleNamed('pm_reader'));
    await reader.limitAsServicesDo();
    for (const { name } of all) {
      const due = granted.includes(name) ? 0 : denied;
      expect([name, await reader.refusal(`SELECT * FROM ${name} LIMIT 1`)]).toEqual([name, due]);
    }
  });

  test('writes nothing, and keeps to its limits', async () => {
    const reader = await as(roleNamed('pm_reader'));
    await refusesOwners(reader);
    for (const sql of insertions) expect(await reader.refusal(sql)).toBe(denied);
    expect(await reader.refusal('SELECT 1 SETTINGS max_execution_time = 5, max_threads = 1')).toBe(
      0,
    );
    const { max = 0 } = roleNamed('pm_reader').settings['max_execution_time'] ?? {};
    const asked = mentioned(/max_execution_time = (\d+)/g).map(Number);
    expect(asked.length).toBeGreaterThan(0);
    expect(Math.max(...asked)).toBeLessThanOrEqual(max);
    expect(await reader.refusal(`SET max_execution_time = ${max + 1}`)).toBe(constrained);
    expect(await reader.refusal('SET max_execution_time = 0')).toBe(constrained);
    expect(await reader.refusal('SET readonly = 0')).toBe(readOnly);
  });
});

test('the auditor checks and writes out whole tables, and changes nothing', async () => {
  const auditor = await as(roleNamed('pm_auditor'));
  await refusesOwners(auditor);
  expect(await checkPrices(auditor)).toEqual([]);
  const day = { from: madeUp.fromMs, to: madeUp.fromMs + 86_400_000 };
  const { planned } = planOf(null);
  for (const one of planned) {
    await auditor.command(tableContentSql(one), one.condition === null ? {} : day);
    await auditor.command(rowsSql(one), one.condition === null ? {} : day);
  }
  for (const { name } of Object.values(tables))
    expect(
      await auditor.refusal(
        `SELECT * FROM ${name} FINAL SETTINGS max_result_rows = 0 FORMAT Parquet`,
      ),
    ).toBe(0);
  for (const sql of insertions) expect(await auditor.refusal(sql)).toBe(denied);
});

describe('the analyst', () => {
  test('runs every worked query, and writes nothing', async () => {
    const analyst = await as(roleNamed('pm_analyst'));
    for (const { sql, example } of workedQueries) await analyst.command(sql, example);
    await refusesOwners(analyst);
    for (const sql of insertions) expect(await analyst.refusal(sql)).toBe(denied);
    for (const { name } of Object.values(leaderboardTables))
      expect(await analyst.refusal(`SELECT count() FROM ${name}`)).toBe(denied);
  }, 60_000);

  test.each([
    [
      'too many rows of an answer',
      'SELECT number FROM numbers(1000001) FORMAT Null',
      resultTooLong,
    ],
    [
      'too many rows read',
      'SELECT sum(size) FROM fills SETTINGS max_rows_to_read = 100',
      tooManyRows,
    ],
    [
      'a query without end',
      // Slow enough that no machine reads as many rows as it may within the second.
      'SELECT count() FROM system.numbers WHERE NOT ignore(SHA256(toString(number))) SETTINGS max_execution_time = 1',
      tooLate,
    ],
    [
      'too much memory',
      'SELECT groupArray(number) FROM numbers(10000000) SETTINGS max_memory_usage = 20000000',
      tooMuchMemory,
    ],
  ])('is stopped at %s', async (_what, sql, number) => {
    expect(await (await as(roleNamed('pm_analyst'))).refusal(sql)).toBe(number);
  });

  test('lowers its limits and raises none of them', async () => {
    const role = roleNamed('pm_analyst');
    const analyst = await as(role);
    const bounded = Object.entries(role.settings).filter(([, { max }]) => max !== undefined);
    expect(bounded.length).toBeGreaterThan(5);
    for (const [name, { max = 0 }] of bounded) {
      const set = (value: number) => analyst.refusal(`SET ${name} = ${value}`);
      expect([name, await set(max + 1), await set(max)]).toEqual([name, constrained, 0]);
      // 0 threads are as many as there are cores, which is judged like any number.
      if (name !== 'max_threads') expect([name, await set(0)]).toEqual([name, constrained]);
    }
  });

  test('changes nothing that is fixed', async () => {
    const analyst = await as(roleNamed('pm_analyst'));
    for (const mode of ['result_overflow_mode', 'read_overflow_mode', 'timeout_overflow_mode'])
      expect([mode, await analyst.refusal(`SET ${mode} = 'break'`)]).toEqual([mode, constrained]);
    const concurrent = 'SET max_concurrent_queries_for_user = 1000';
    expect(await analyst.refusal(concurrent)).toBe(constrained);
    expect(await analyst.refusal('SET readonly = 0')).toBe(readOnly);
  });

  test('asks no more at a time than it may', async () => {
    const role = roleNamed('pm_analyst');
    const settings = { ...role.settings, max_concurrent_queries_for_user: { value: 2 } };
    const analyst = await as({ ...role, settings });
    const others = [analyst.beside(), analyst.beside()];
    try {
      const long = 'SELECT sleepEachRow(0.5) FROM numbers(3)';
      const asked = [analyst, ...others].map((one) => one.refusal(long));
      expect((await Promise.all(asked)).sort()).toEqual([0, 0, tooManyQueries]);
    } finally {
      for (const other of others) other.close();
    }
  });

  test('has used up its hour when its quota is used up', async () => {
    const role = roleNamed('pm_analyst');
    // Opening took two: SET and USE count.
    const analyst = await as({ ...role, quota: { ...role.quota, queries: 7 } });
    const query = 'SELECT market FROM fills LIMIT 100';
    const refusals: number[] = [];
    for (let n = 0; n < 7; n += 1) refusals.push(await analyst.refusal(query));
    expect(refusals).toEqual([0, 0, 0, 0, 0, quotaExceeded, quotaExceeded]);
    const rows = await as({ ...role, quota: { result_rows: 500 } });
    expect(await rows.refusal('SELECT market FROM fills LIMIT 501')).toBe(quotaExceeded);
  });
});

describe('Grafana', () => {
  test('asks all that its data source asks', async () => {
    const grafana = await as(roleNamed('pm_grafana'));
    for (const sql of [
      'SELECT version()',
      'SHOW DATABASES',
      'SHOW TABLES FROM pm',
      'DESC TABLE pm.fills',
      `SELECT name, type, table FROM system.columns WHERE database IN ('pm')`,
      'SELECT name FROM system.functions LIMIT 1',
      `SELECT count() FROM pm.fills SETTINGS additional_table_filters = {'pm.fills': 'market = 1'}`,
      'SELECT 1 SETTINGS max_execution_time = 65',
      'EXPLAIN AST SELECT 1',
    ])
      expect([sql, await grafana.refusal(sql)]).toEqual([sql, 0]);
    expect(await grafana.refusal('SELECT 1 SETTINGS max_execution_time = 66')).toBe(constrained);
    await refusesOwners(grafana);
    for (const sql of insertions) expect(await grafana.refusal(sql)).toBe(denied);
  });

  test('runs the panel of docs/operating/clickhouse.md', async () => {
    const [, panel = ''] = /### A panel[\s\S]*?```sql\n([\s\S]*?)```/.exec(readText(page)) ?? [];
    const [from, to] = [madeUp.fromMs / 1_000, madeUp.fromMs / 1_000 + 3_600];
    const sql = panel
      .replaceAll(
        '$__timeInterval(bucket)',
        'toStartOfInterval(toDateTime(bucket), INTERVAL 60 second)',
      )
      .replaceAll(
        '$__timeFilter(bucket)',
        `bucket >= toDateTime(${from}) AND bucket <= toDateTime(${to})`,
      );
    expect(sql).not.toContain('$');
    const grafana = await as(roleNamed('pm_grafana'));
    expect((await grafana.selectRows(sql)).length).toBe(60);
  });
});
