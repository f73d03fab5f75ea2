import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import {
  type Column,
  columnNames,
  createTableSql,
  isNullable,
  type Table,
} from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { engineUrl } from '../../kit/test/engines.ts';

const url = engineUrl('CLICKHOUSE');

export type Row = Readonly<Record<string, string | number | null>>;

/** A database of its own with all tables, for one file of tests. */
export interface FreshDatabase {
  readonly clickhouse: ClickHouse;
  /** Inserts rows that name every column but those that are NULL, and `appended_at`, which no route reads. */
  fill(table: Table, rows: readonly Row[]): Promise<void>;
  drop(): Promise<void>;
}

const open = (database: string) =>
  openClickHouse({ url, database, user: 'default', password: '', log: silentLog });

export async function freshDatabase(): Promise<FreshDatabase> {
  const name = `query_api_${process.pid}_${Date.now()}`;
  const server = open('default');
  await server.command(`CREATE DATABASE ${name} ENGINE = Atomic`);
  await server.close();
  const clickhouse = open(name);
  for (const table of Object.values(tables)) await clickhouse.command(createTableSql(table, name));
  return {
    clickhouse,
    async fill(table, rows) {
      const names = columnNames(table);
      const cells = rows.map((row) => table.columns.map((column) => cellOf(row, column)));
      await clickhouse.insertRows(table.name, names, cells);
    },
    async drop() {
      await clickhouse.command(`DROP DATABASE ${name}`);
      await clickhouse.close();
    },
  };
}

function cellOf(row: Row, column: Column): string | number | null {
  const value = row[column.name] ?? (column.name === 'appended_at' ? row['time'] : undefined);
  if (value !== undefined) return value;
  if (isNullable(column)) return null;
  throw new Error(`the column ${column.name} is missing`);
}

/** Unix seconds as the tables take times with milliseconds. */
export function at(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('T', ' ').replace('Z', '');
}
