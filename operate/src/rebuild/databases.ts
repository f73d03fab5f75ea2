import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { insist, type RetriedTables } from '@pm/deploy/installation/retry-budget';
import { repositoryRoot } from '@pm/deploy/local/paths';
import { StackError } from '@pm/deploy/local/stack-error';
import { tables as contracts, createTableSql, leaderboardTables } from '@pm/schemas';
import { foldedTables } from './compare.ts';
import type { Rebuild } from './progress.ts';

/** Facts about a rebuild, in the database that is folded into. */
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

/** Tables stand last in the list that must be exchanged last: until then `completeness` speaks for those in front. */
const exchanged = [
  ...foldedTables.filter((table) => table !== contracts.completeness),
  contracts.completeness,
];

/**
 * Makes what is missing. What an earlier run has folded is kept (`resumed`), unless other code folded it or it died in the middle
 * of an exchange: then it begins anew (`fresh`). `exchanged`: the earlier run died behind the exchange, and nothing is left to do.
 */
export async function prepareDatabases(
  rebuild: Rebuild,
): Promise<'fresh' | 'resumed' | 'exchanged'> {
  const { tables, served, rebuilt, still } = rebuild;
  await dropDatabase(tables, still);
  await tables.command(`CREATE DATABASE IF NOT EXISTS \`${served}\``);
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

/** Clones the served tables as they are; parts are shared, so it costs no time and no room. */
export async function takeStill(rebuild: Rebuild): Promise<void> {
  const { installation, tables, served, still } = rebuild;
  const { clickhouse } = installation;
  await dropDatabase(tables, still);
  await tables.command(`CREATE DATABASE IF NOT EXISTS \`${still}\``);
  for (const { name } of foldedTables)
    await insist(async () => {
      rebuild.assertMayGoOn();
      // A clone that was made in part is no clone.
      await clickhouse.command(`DROP TABLE IF EXISTS \`${still}\`.${name} SYNC`);
      await clickhouse.command(`CREATE TABLE \`${still}\`.${name} CLONE AS \`${served}\`.${name}`);
    });
}

/**
 * Exchanges all tables of the two databases. The rebuilt tables must be at least as far as the served ones, and those at rest.
 * Ended anywhere, the served tables hold what their `completeness` says. Stops at a table that is neither served nor the one that
 * was rebuilt: somebody else is at work.
 */
export async function exchangeTables(rebuild: Rebuild): Promise<void> {
  const { tables, rebuilt } = rebuild;
  const ids = new Map<string, string>();
  for (const { name } of exchanged) ids.set(name, await idOf(tables, rebuilt, name));
  await remember(rebuild, 'exchange', ids.get(contracts.completeness.name) ?? '');
  for (const [name, id] of ids) await insist(() => exchangeTable(rebuild, name, id));
}

/** Exchanges a table once: a statement whose answer was lost is not undone by its repetition. */
async function exchangeTable(rebuild: Rebuild, name: string, id: string): Promise<void> {
  const { installation, tables, served, rebuilt } = rebuild;
  rebuild.assertMayGoOn();
  if ((await idOf(tables, served, name)) === id) return;
  if (id === '' || (await idOf(tables, rebuilt, name)) !== id)
    throw new StackError(
      'START_FAILED',
      `${rebuilt}.${name} is not the table that was rebuilt: somebody else works on it. Run it again when nobody does`,
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

/** The identity of a table, which goes along when it is exchanged; empty when there is none. */
async function idOf(tables: RetriedTables, database: string, name: string): Promise<string> {
  const [row] = await tables.selectRows<{ id: string }>(
    'SELECT toString(uuid) AS id FROM system.tables WHERE database = {database:String} AND name = {name:String}',
    { database, name },
  );
  return row?.id ?? '';
}

/** Stands for the code that folds: tables that other code has begun are of no use. */
function digestOfCode(): string {
  const hash = createHash('sha256');
  for (const folder of ['projectors/dist/views', 'projectors/dist/tables', 'schemas/dist']) {
    const root = join(repositoryRoot, folder);
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.js')).sort())
      hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}
