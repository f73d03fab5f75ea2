import type { ClickHouse } from '@pm/kit/clickhouse';
import { changeableSettings, createTableSql, type Table } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import type { Addresses } from '../installation/read-addresses.ts';
import { atServer } from '../installation/server.ts';
import { toolCall } from '../installation/tool-call.ts';
import type { Progress } from '../local/managed-process.ts';

/**
 * Creates missing tables, and gives existing ones the settings of this version. Leaderboards with the columns of
 * another version are created again: they are computed within a minute. Returns the names of other such tables:
 * projectors write nothing until `npm run rebuild` has rebuilt them.
 */
export function setUpTables(addresses: Addresses, progress: Progress): Promise<readonly string[]> {
  const { clickhouseDatabase: database } = addresses;
  return atServer(addresses, async (clickhouse) => {
    await clickhouse.command(`CREATE DATABASE IF NOT EXISTS \`${database}\``);
    for (const table of await otherColumns(clickhouse, database, Object.values(leaderboardTables)))
      await clickhouse.command(`DROP TABLE \`${database}\`.${table.name} SYNC`);
    const all = [...Object.values(tables), ...Object.values(leaderboardTables)];
    for (const table of all) await clickhouse.command(createTableSql(table, database));
    for (const { name, settings } of await otherSettings(clickhouse, database, all))
      await clickhouse.command(
        `ALTER TABLE \`${database}\`.\`${name}\` MODIFY SETTING ${settings.join(', ')}`,
      );
    progress(`tables: ${Object.keys(tables).length} in database ${database}`);
    const others = await otherColumns(clickhouse, database, Object.values(tables));
    const names = others.map(({ name }) => name);
    if (names.length > 0) progress(rebuildAdvice(names));
    return names;
  });
}

/** Advice on tables with the columns of another version. */
export function rebuildAdvice(names: readonly string[]): string {
  return `tables of another version (${names.join(', ')}): nothing is written into the tables before: ${toolCall('rebuild', '--halted')}`;
}

/** Existing tables with other columns, or other column types, than declared. */
export async function otherColumns(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  database: string,
  declared: readonly Table[],
): Promise<readonly Table[]> {
  const rows = await clickhouse.selectRows<{ readonly table: string; readonly columns: string }>(
    `SELECT table, arrayStringConcat(arraySort(groupArray(concat(name, ' ', type))), '\n') AS columns
     FROM system.columns WHERE database = {database:String} GROUP BY table`,
    { database },
  );
  const found = new Map(rows.map(({ table, columns }) => [table, columns]));
  return declared.filter(({ name, columns }) => {
    const owed = columns.map((column) => `${column.name} ${column.type}`).sort();
    return found.has(name) && found.get(name) !== owed.join('\n');
  });
}

/** The settings that existing tables lack, or have with another value: they keep those they were created with. */
async function otherSettings(
  clickhouse: Pick<ClickHouse, 'selectRows'>,
  database: string,
  declared: readonly Table[],
): Promise<readonly { readonly name: string; readonly settings: readonly string[] }[]> {
  const rows = await clickhouse.selectRows<{ readonly name: string; readonly engine: string }>(
    'SELECT name, engine_full AS engine FROM system.tables WHERE database = {database:String}',
    { database },
  );
  const found = new Map(
    rows.map(({ name, engine }) => [name, engine.split(' SETTINGS ')[1]?.split(', ') ?? []]),
  );
  return declared
    .map((table) => {
      const known = new Set(found.get(table.name));
      const settings = changeableSettings(table).filter((setting) => !known.has(setting));
      return { name: table.name, settings };
    })
    .filter(({ settings }) => settings.length > 0);
}
