import { readCompleteness } from '@pm/deploy/installation/completeness';
import { type ClickHouse, openClickHouse } from '@pm/kit/clickhouse';
import { silentLog } from '@pm/kit/log';
import { createTableSql } from '@pm/schemas/tables/create-table';
import { leaderboardTables } from '@pm/schemas/tables/leaderboard-tables';
import { tables } from '@pm/schemas/tables/tables';
import type { Installation } from '../world/installation.ts';

/** Rows and a hash of each table that the projection writes, by name. */
export type Contents = ReadonlyMap<string, string>;

/** The databases of the rounds. */
export class Databases {
  readonly #server: ClickHouse;

  constructor(account: Installation['tables']) {
    this.#server = openClickHouse({
      ...account,
      database: 'default',
      log: silentLog,
      requestTimeoutMs: 120_000,
    });
  }

  /** An empty database with all tables. */
  async make(database: string): Promise<void> {
    await this.#server.command(`CREATE DATABASE ${database} ENGINE = Atomic`);
    for (const table of [...Object.values(tables), ...Object.values(leaderboardTables)])
      await this.#server.command(createTableSql(table, database));
  }

  /** Drops its files, so that merges of one round do not slow the next. */
  async drop(database: string): Promise<void> {
    await this.#server.command(`DROP DATABASE ${database} SYNC`);
  }

  /** Content of each table for readers. */
  async contents(database: string): Promise<Contents> {
    const contents = new Map<string, string>();
    for (const { name } of Object.values(tables)) {
      const sql = `SELECT concat(toString(count()), ' rows, ', hex(sum(cityHash64(tuple(*))))) AS content FROM ${database}.${name} FINAL`;
      const [row] = await this.#server.selectRows<{ content: string }>(sql);
      contents.set(name, row?.content ?? '');
    }
    return contents;
  }

  /** Offset of `executions[0]` up to which the tables are complete. */
  async completeTo(database: string): Promise<number> {
    const [first] = await readCompleteness(this.#server, database);
    return first?.throughOffset ?? 0;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Throws for tables that differ. */
export function assertSame(one: Contents, other: Contents, what: string): void {
  const differ = [...one].filter(([name, content]) => other.get(name) !== content);
  if (differ.length === 0) return;
  const lines = differ.map(([name, content]) => `${name}: ${content}, ${other.get(name)}`);
  throw new Error(`${what} differ, so there is no figure: ${lines.join('; ')}`);
}
