/** A ClickHouse table as data: the DDL, the insert column list and the data dictionary all come from it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly codec?: string;
  /** Meaning and unit; the COMMENT of the column. */
  readonly comment: string;
}

const nullableType = /^Nullable\((.*)\)$/;

/** Whether cells of the column may be NULL: nothing is known, or nothing applies. */
export function isNullable({ type }: Column): boolean {
  return nullableType.test(type);
}

/** Type of the values of a column, without `Nullable`. */
export function valueType({ type }: Column): string {
  return nullableType.exec(type)?.[1] ?? type;
}

export interface Table {
  readonly name: string;
  readonly comment: string;
  readonly columns: readonly Column[];
  /** MergeTree family engine with its version column, if any. */
  readonly engine: string;
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  readonly indexGranularity?: number;
  /** Skipping indexes, as in the DDL. */
  readonly indexes?: readonly string[];
  /** Further settings of the table, `name = value`. */
  readonly settings?: readonly string[];
}

/** How many inserts a table remembers by token: more than can be in flight, small enough to cost nothing. */
const deduplicationWindow = 1_000;

/**
 * Merges for inserts of a few rows. Where merges are chosen a part counts as its size and 5 MB, so with the base of 5
 * any five parts of a table below that are merged, and a heuristic leaves of them the largest and two others: the table
 * is rewritten every few inserts. With these settings a merge waits for twelve parts and takes all of them.
 */
const mergeSettings = [
  'merge_selector_base = 12',
  'merge_selector_enable_heuristic_to_remove_small_parts_at_right = 0',
];

/** Settings of a table that may change while it exists, `name = value`. */
export function changeableSettings(table: Table): readonly string[] {
  return [...mergeSettings, ...(table.settings ?? [])];
}

/** All settings that a table is created with, `name = value`. */
export function tableSettings(table: Table): readonly string[] {
  return [
    `non_replicated_deduplication_window = ${deduplicationWindow}`,
    `index_granularity = ${table.indexGranularity ?? 8192}`,
    ...changeableSettings(table),
  ];
}

/** `CREATE TABLE IF NOT EXISTS` with a COMMENT on the table and on every column. */
export function createTableSql(table: Table, database: string): string {
  const columns = table.columns.map((column) => {
    const codec = column.codec === undefined ? '' : ` CODEC(${column.codec})`;
    return `  \`${column.name}\` ${column.type} COMMENT ${quoted(column.comment)}${codec}`;
  });
  const indexes = (table.indexes ?? []).map((index) => `  INDEX ${index}`);
  return [
    `CREATE TABLE IF NOT EXISTS \`${database}\`.\`${table.name}\` (`,
    [...columns, ...indexes].join(',\n'),
    `) ENGINE = ${table.engine}`,
    ...(table.partitionBy === undefined ? [] : [`PARTITION BY ${table.partitionBy}`]),
    `ORDER BY (${table.orderBy.join(', ')})`,
    `SETTINGS ${tableSettings(table).join(', ')}`,
    `COMMENT ${quoted(table.comment)}`,
  ].join('\n');
}

/** Columns in the order rows are inserted in. */
export function columnNames(table: Table): readonly string[] {
  return table.columns.map((column) => column.name);
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
