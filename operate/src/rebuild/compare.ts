import type { RetriedTables } from '@pm/deploy/installation/retry-budget';
import type { Table } from '@pm/schemas/tables/create-table';
import { tables as contracts } from '@pm/schemas/tables/tables';

/** Result of comparing a served table with the rebuilt one. */
export interface Comparison {
  readonly table: string;
  readonly rows: number;
  /** Sums of the hashes of all rows, each row once. */
  readonly servedHash: string;
  readonly rebuiltHash: string;
  /** Null when the tables are equal. */
  readonly difference: Difference | null;
}

export interface Difference {
  /** Rows that only the rebuilt table has. */
  readonly missing: number;
  /** Rows that only the served table has. */
  readonly extra: number;
  /** Rows of one key with other values. */
  readonly changed: number;
  /** Keys of some of them. */
  readonly examples: readonly string[];
  /** Columns that are not the same in both; then no row was compared. */
  readonly columns: readonly string[];
}

export interface ComparedDatabases {
  readonly served: string;
  readonly rebuilt: string;
}

/** One statement per month of a table; memory is bounded, since tables are read in the order of their keys. */
const settings = 'SETTINGS max_execution_time = 800, max_threads = 2';
/** The search for differing rows groups by key; beyond this size it uses the disk. */
const searchSettings = `${settings}, max_bytes_before_external_group_by = 200000000`;
const examplesMax = 3;

/** Hash of a row. As one tuple: of arguments of which one is NULL the hash would be NULL, and count in no sum. */
const rowHash = 'cityHash64(tuple(*))';

/** Tables that are folded from the log: those that a rebuild creates and compares. */
export const foldedTables: readonly Table[] = Object.values(contracts);

/** Compares the content of two tables, independent of parts and repeated rows. Neither may change meanwhile. */
export async function compareTable(
  tables: RetriedTables,
  table: Table,
  databases: ComparedDatabases,
): Promise<Comparison> {
  const columns = await differingColumns(tables, table.name, databases);
  if (columns.length > 0) {
    const difference = { missing: 0, extra: 0, changed: 0, examples: [], columns };
    return { table: table.name, rows: 0, servedHash: '', rebuiltHash: '', difference };
  }
  const [served, rebuilt] = [new Content(), new Content()];
  let difference: Difference | null = null;
  for (const month of await monthsOf(tables, table.name, databases)) {
    const one = await contentOf(tables, `\`${databases.served}\`.${table.name}`, month);
    const other = await contentOf(tables, `\`${databases.rebuilt}\`.${table.name}`, month);
    served.add(one);
    rebuilt.add(other);
    if (one.rows === other.rows && one.hash === other.hash) continue;
    difference = sumOf(difference, await differenceOf(tables, table, { ...databases, month }));
  }
  return {
    table: table.name,
    rows: served.rows,
    difference,
    servedHash: served.text,
    rebuiltHash: rebuilt.text,
  };
}

interface MonthContent {
  readonly rows: number;
  readonly hash: bigint;
}

/** Rows and hash of all months of a table. */
class Content {
  rows = 0;
  #hash = 0n;

  add({ rows, hash }: MonthContent): void {
    this.rows += rows;
    this.#hash = BigInt.asUintN(64, this.#hash + hash);
  }

  get text(): string {
    return this.#hash.toString(16).padStart(16, '0');
  }
}

async function contentOf(
  tables: RetriedTables,
  table: string,
  month: string,
): Promise<MonthContent> {
  const [row] = await tables.selectRows<{ found: string; hash: string }>(
    `SELECT toString(count()) AS found, toString(sum(${rowHash})) AS hash FROM ${table} FINAL
     WHERE _partition_id = {month:String} ${settings}`,
    { month },
  );
  return { rows: Number(row?.found ?? 0), hash: BigInt(row?.hash ?? '0') };
}

async function monthsOf(
  tables: RetriedTables,
  name: string,
  { served, rebuilt }: ComparedDatabases,
): Promise<readonly string[]> {
  const rows = await tables.selectRows<{ month: string }>(
    `SELECT DISTINCT partition_id AS month FROM system.parts
     WHERE active AND table = {name:String} AND database IN ({served:String}, {rebuilt:String}) ORDER BY month`,
    { name, served, rebuilt },
  );
  return rows.map(({ month }) => month);
}

async function differingColumns(
  tables: RetriedTables,
  name: string,
  { served, rebuilt }: ComparedDatabases,
): Promise<readonly string[]> {
  const rows = await tables.selectRows<{ name: string }>(
    `SELECT name FROM system.columns WHERE table = {name:String} AND database IN ({served:String}, {rebuilt:String})
     GROUP BY name HAVING count() != 2 OR uniqExact(type, position) != 1 ORDER BY name`,
    { name, served, rebuilt },
  );
  return rows.map((row) => row.name);
}

interface DifferenceRow {
  readonly missing: string;
  readonly extra: string;
  readonly changed: string;
  readonly examples: readonly string[];
}

async function differenceOf(
  tables: RetriedTables,
  { name, orderBy }: Table,
  { served, rebuilt, month }: ComparedDatabases & { readonly month: string },
): Promise<Difference> {
  const key = orderBy.join(', ');
  const rowsOf = (database: string, side: number) =>
    `SELECT ${key}, ${rowHash} AS content, ${side} AS side FROM \`${database}\`.${name} FINAL
     WHERE _partition_id = {month:String}`;
  const [row] = await tables.selectRows<DifferenceRow>(
    `SELECT toString(countIf(sides = 1 AND side_sum = 1)) AS missing, toString(countIf(sides = 1 AND side_sum = 0)) AS extra,
       toString(countIf(sides = 2)) AS changed, groupArray(${examplesMax})(name) AS examples
     FROM (
       SELECT toString(tuple(${key})) AS name, count() AS sides, sum(side) AS side_sum
       FROM (${rowsOf(served, 0)} UNION ALL ${rowsOf(rebuilt, 1)})
       GROUP BY ${key} HAVING sides = 1 OR min(content) != max(content)
     ) ${searchSettings}`,
    { month },
  );
  return {
    missing: Number(row?.missing ?? 0),
    extra: Number(row?.extra ?? 0),
    changed: Number(row?.changed ?? 0),
    examples: row?.examples ?? [],
    columns: [],
  };
}

function sumOf(one: Difference | null, other: Difference): Difference {
  if (one === null) return other;
  return {
    missing: one.missing + other.missing,
    extra: one.extra + other.extra,
    changed: one.changed + other.changed,
    examples: [...one.examples, ...other.examples].slice(0, examplesMax),
    columns: [],
  };
}
