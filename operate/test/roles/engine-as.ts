import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cell, type ClickHouse, type QueryParameter, selectRowsMax } from '@pm/kit/clickhouse';
import { Session } from 'chdb';
import type { ClickHouseRole, ProfileSetting } from '../../src/roles/roles.ts';
import { rightTexts } from '../../src/roles/roles-sql.ts';

/** Name of `pm` on a server. */
export const database = 'pm';

function constraintXml([name, { min, max }]: readonly [string, ProfileSetting]): string {
  const bounds = max === undefined ? '<readonly/>' : `<min>${min}</min><max>${max}</max>`;
  return `<${name}>${bounds}</${name}>`;
}

/**
 * A configuration of the engine in which the only user there is has this role, its settings and its quota: the same
 * declaration as in roles.sql, in the other language that ClickHouse knows for it. The embedded engine keeps no roles
 * made by SQL.
 */
function configuration(role: ClickHouseRole, more: readonly string[], file: string): string {
  const grants = [
    ...role.rights.flatMap((right) => rightTexts(right, database)).map((text) => `GRANT ${text}`),
    ...more,
  ];
  const settings = Object.entries(role.settings);
  const values = settings.map(([name, { value }]) => `<${name}>${value}</${name}>`);
  const limits = Object.entries(role.quota ?? {}).map(
    ([what, most]) => `<${what}>${most}</${what}>`,
  );
  const quota =
    role.quota === null ? '' : `<interval><duration>3600</duration>${limits.join('')}</interval>`;
  return `<clickhouse>
<profiles><default/><${role.name}>${values.join('')}
  <constraints>${settings.map(constraintXml).join('')}</constraints></${role.name}></profiles>
<quotas><default/><${role.name}>${quota}</${role.name}></quotas>
<roles><${role.name}><grants>${grants.map((text) => `<query>${text}</query>`).join('')}</grants></${role.name}></roles>
<users><default><password/><networks><ip>::/0</ip></networks>
  <profile>${role.name}</profile><quota>${role.name}</quota>
  <grants><query>GRANT ${role.name}</query></grants></default></users>
<user_directories><users_xml><path>${file}</path></users_xml></user_directories>
</clickhouse>`;
}

const everything: ClickHouseRole = {
  name: 'everything',
  comment: '',
  rights: [],
  settings: {},
  quota: null,
};

/** An engine on a data folder, as a user with one role sees it. One process has one at a time. */
export class EngineAs {
  readonly #folder: string;
  readonly #session: Session;

  private constructor(folder: string) {
    this.#folder = folder;
    this.#session = new Session(join(folder, 'data'), {
      connectionArgs: [`--config-file=${join(folder, 'engine.xml')}`],
    });
  }

  /** Another session of the same user, to ask beside this one. */
  beside(): EngineAs {
    return new EngineAs(this.#folder);
  }

  /** `more`: further GRANT statements, to look at what a role has. `null` may do everything. */
  static async open(
    folder: string,
    role: ClickHouseRole | null,
    more: readonly string[] = [],
  ): Promise<EngineAs> {
    const file = join(folder, 'engine.xml');
    const grants = role === null ? ['GRANT ALL ON *.*'] : more;
    writeFileSync(file, configuration(role ?? everything, grants, file));
    const engine = new EngineAs(folder);
    // Settings that the client of the services sends with every query.
    await engine.command(
      `SET output_format_json_quote_64bit_integers = 1, output_format_json_quote_decimals = 1`,
    );
    if (role === null)
      await engine.command(`CREATE DATABASE IF NOT EXISTS ${database} ENGINE = Atomic`);
    await engine.command(`USE ${database}`);
    return engine;
  }

  /** As the client of the services does before each query. */
  async limitAsServicesDo(): Promise<void> {
    await this.command(`SET max_result_rows = ${selectRowsMax}, result_overflow_mode = 'throw'`);
  }

  async text(sql: string, params: Readonly<Record<string, QueryParameter>> = {}): Promise<string> {
    const format = { format: 'TSVRaw' };
    // Queries with parameters of several sessions wait for each other.
    const isPlain = Object.keys(params).length === 0;
    const result = isPlain
      ? await this.#session.queryAsync(sql, format)
      : await this.#session.queryBindAsync(sql, params, format);
    return result.text();
  }

  async command(sql: string, params: Readonly<Record<string, QueryParameter>> = {}): Promise<void> {
    await this.text(sql, params);
  }

  async selectRows<T>(
    sql: string,
    params: Readonly<Record<string, QueryParameter>> = {},
  ): Promise<readonly T[]> {
    const result = await this.#session.queryBindAsync(sql, params, { format: 'JSONEachRow' });
    const lines = result.text().split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
  }

  async insertRows(
    table: string,
    columns: readonly string[],
    rows: readonly (readonly Cell[])[],
  ): Promise<void> {
    if (rows.length === 0) return;
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    await this.command(
      `INSERT INTO ${table} (${columns.join(', ')}) FORMAT JSONCompactEachRow\n${lines}`,
    );
  }

  /** As the client that services have; what its callers do not need here is refused. */
  asClient(): ClickHouse {
    const refused = () => Promise.reject(new Error('not asked for by these tests'));
    return {
      command: (sql, params) => this.command(sql, params),
      selectRows: (sql, params) => this.selectRows(sql, params),
      insertRows: (table, columns, rows) => this.insertRows(table, columns, rows),
      insertTabSeparated: refused,
      copyTo: refused,
      ping: refused,
      close: async () => this.close(),
    };
  }

  /** The number of the engine's refusal; 0 when it did as asked. */
  async refusal(sql: string): Promise<number> {
    return await this.text(sql).then(
      () => 0,
      (error: unknown) => Number(/Code: (\d+)/.exec(String(error))?.[1] ?? -1),
    );
  }

  close(): void {
    this.#session.close();
  }
}
