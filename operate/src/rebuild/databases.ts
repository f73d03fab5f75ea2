import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Installation } from '@pm/deploy/installation/open';
import { insist, type RetriedTables, retriedTables } from '@pm/deploy/installation/retry-budget';
import { atServer } from '@pm/deploy/installation/server';
import { isInImage } from '@pm/deploy/installation/tool-call';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { StackError } from '@pm/deploy/local/stack-error';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables as contracts } from '@pm/schemas/tables/tables';
import { foldedTables } from './compare.ts';
import type { Rebuild } from './progress.ts';

/** Facts about a rebuild, in its database. */
const facts = {
  name: 'rebuild_facts',
  comment: 'What the rebuild under way has to remember.',
  columns: [
    { name: 'fact', type: 'String', comment: 'Which one.' },
    { name: 'value', type: 'String', comment: 'What it is.' },
  ],
  engine: 'MergeTree',
  orderBy: ['fact'],
} as const;

/** Creates the served database where it is missing. */
export async function createServedDatabase({ addresses }: Installation): Promise<void> {
  const sql = `CREATE DATABASE IF NOT EXISTS \`${addresses.clickhouseDatabase}\``;
  await atServer(addresses, (server) => retriedTables(server).command(sql));
}

/** In the order of the exchange: `completeness` last, because it speaks for all others. */
const exchanged = [
  ...foldedTables.filter((table) => table !== contracts.completeness),
  contracts.completeness,
];

/**
 * Creates missing tables. Tables of an earlier run are kept (`resumed`), unless other code folded them or
 * the run died during an exchange: then they are created again (`fresh`). `exchanged`: the earlier run died after the
 * exchange; nothing is left to do.
 */
export async function prepareDatabases(
  rebuild: Rebuild,
): Promise<'fresh' | 'resumed' | 'exchanged'> {
  const { tables, served, rebuilt, snapshot } = rebuild;
  await dropDatabase(tables, snapshot);
  for (const table of [...foldedTables, ...Object.values(leaderboardTables)])
    await tables.command(createTableSql(table, served));
  const code = digestOfCode();
  const known = await factsOf(rebuild);
  if (known.has('exchange')) {
    const isDone =
      known.get('exchange') === (await idOf(tables, served, contracts.completeness.name));
    await dropDatabase(tables, rebuilt);
    if (isDone) return 'exchanged';
  } else if (known.get('code') !== code) await dropDatabase(tables, rebuilt);
  await tables.command(`CREATE DATABASE IF NOT EXISTS \`${rebuilt}\``);
  for (const table of foldedTables) await tables.command(createTableSql(table, rebuilt));
  await tables.command(createTableSql(facts, rebuilt));
  if (known.get('code') === code && !known.has('exchange')) return 'resumed';
  await remember(rebuild, 'code', code);
  return 'fresh';
}

/** Clones the served tables as they are; parts are shared, so it costs neither time nor space. */
export async function takeSnapshot(rebuild: Rebuild): Promise<void> {
  const { installation, tables, served, snapshot } = rebuild;
  const { clickhouse } = installation;
  await dropDatabase(tables, snapshot);
  await tables.command(`CREATE DATABASE IF NOT EXISTS \`${snapshot}\``);
  for (const { name } of foldedTables) {
    let isAgain = false;
    await insist(async () => {
      rebuild.assertMayGoOn();
      // A statement that failed may have left a partial clone.
      if (isAgain) await clickhouse.command(`DROP TABLE IF EXISTS \`${snapshot}\`.${name} SYNC`);
      isAgain = true;
      await clickhouse.command(
        `CREATE TABLE \`${snapshot}\`.${name} CLONE AS \`${served}\`.${name}`,
      );
    });
  }
}

/**
 * Exchanges all tables of the two databases. The rebuilt tables must be at least as far as the served ones, and those
 * at rest. If it is ended halfway, the served tables contain what their `completeness` says. Stops at a table that is
 * neither served nor the rebuilt one: another process works on it.
 */
export async function exchangeTables(rebuild: Rebuild): Promise<void> {
  const { tables, rebuilt } = rebuild;
  const ids = new Map<string, string>();
  for (const { name } of exchanged) ids.set(name, await idOf(tables, rebuilt, name));
  await remember(rebuild, 'exchange', ids.get(contracts.completeness.name) ?? '');
  for (const [name, id] of ids) await insist(() => exchangeTable(rebuild, name, id));
}

/** Exchanges a table once: repeating a statement whose response was lost does not undo it. */
async function exchangeTable(rebuild: Rebuild, name: string, id: string): Promise<void> {
  const { installation, tables, served, rebuilt } = rebuild;
  rebuild.assertMayGoOn();
  if ((await idOf(tables, served, name)) === id) return;
  if (id === '' || (await idOf(tables, rebuilt, name)) !== id)
    throw new StackError(
      'START_FAILED',
      `${rebuilt}.${name} is not the table that was rebuilt: another process works on it. Run it again when none does`,
    );
  await installation.clickhouse.command(
    `EXCHANGE TABLES \`${served}\`.${name} AND \`${rebuilt}\`.${name}`,
  );
}

export async function dropDatabase(tables: RetriedTables, database: string): Promise<void> {
  await tables.command(`DROP DATABASE IF EXISTS \`${database}\` SYNC`);
}

async function factsOf({ tables, rebuilt }: Rebuild): Promise<ReadonlyMap<string, string>> {
  if ((await idOf(tables, rebuilt, facts.name)) === '') return new Map();
  const rows = await tables.selectRows<{ fact: string; value: string }>(
    `SELECT fact, value FROM \`${rebuilt}\`.${facts.name}`,
  );
  return new Map(rows.map(({ fact, value }) => [fact, value]));
}

async function remember({ tables, rebuilt }: Rebuild, fact: string, value: string): Promise<void> {
  await tables.command(
    `INSERT INTO \`${rebuilt}\`.${facts.name} SELECT {fact:String}, {value:String}`,
    { fact, value },
  );
}

/** Identity of a table, which stays with it in an exchange; empty when there is no such table. */
async function idOf(tables: RetriedTables, database: string, name: string): Promise<string> {
  const [row] = await tables.selectRows<{ id: string }>(
    'SELECT toString(uuid) AS id FROM system.tables WHERE database = {database:String} AND name = {name:String}',
    { database, name },
  );
  return row?.id ?? '';
}

const foldingCode = [
  'projectors/dist/views',
  'projectors/dist/tables',
  'domain/dist/executions',
  'schemas/dist',
];

/** In the image the folding code is in one file with all that this process runs. */
const toolsBundle = 'deploy/dist/programs/tools.mjs';

/** Digest of the folding code: tables that other code has begun are not reused. */
function digestOfCode(): string {
  const hash = createHash('sha256');
  const files = isInImage ? [toolsBundle] : foldingCode.flatMap(compiledIn);
  for (const file of files) hash.update(file).update(readFileSync(join(repositoryRoot, file)));
  return hash.digest('hex');
}

function compiledIn(folder: string): readonly string[] {
  const files = readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' });
  const compiled = files.filter((name) => name.endsWith('.js')).sort();
  return compiled.map((name) => join(folder, name));
}
