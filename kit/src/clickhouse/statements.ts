import { assert } from '../assert/index.ts';

/** One value of a row as JSON: 64-bit integers and decimals are text. */
export type Cell = string | number | boolean | null | readonly Cell[];

const identifier = /^[A-Za-z_]\w{0,63}(\.[A-Za-z_]\w{0,63})?$/;
const tokenPattern = /^[\w:.,-]{1,200}$/;

/** Formats of inserted rows: JSON for few, tab-separated text for many. */
export type InsertFormat = 'JSONCompactEachRow' | 'TabSeparated';

/**
 * `INSERT INTO t (a, b) SETTINGS ... FORMAT JSONCompactEachRow`. The settings are part of the SQL, since they decide
 * whether a retry duplicates (traps.md): synchronous, this token, and views that deduplicate with their source.
 */
export function insertStatement(
  table: string,
  columns: readonly string[],
  { token, format }: { readonly token: string | null; readonly format: InsertFormat },
): string {
  for (const name of [table, ...columns]) assert(identifier.test(name), `${name} is an identifier`);
  assert(columns.length > 0, 'an insert names its columns');
  const settings = ['async_insert=0', 'deduplicate_blocks_in_dependent_materialized_views=1'];
  if (format === 'TabSeparated') settings.push('input_format_tsv_enum_as_number=1');
  if (token !== null) {
    assert(tokenPattern.test(token), 'a deduplication token is letters, digits and :.,-');
    settings.push(`insert_deduplication_token='${token}'`);
  }
  return `INSERT INTO ${table} (${columns.join(', ')}) SETTINGS ${settings.join(', ')} FORMAT ${format}`;
}

/** Rows as JSON arrays, one per line. */
export function rowLines(rows: readonly (readonly Cell[])[], width: number): string {
  const lines: string[] = [];
  for (const row of rows) {
    assert(row.length === width, `a row has ${width} cells`);
    lines.push(JSON.stringify(row));
  }
  return `${lines.join('\n')}\n`;
}
