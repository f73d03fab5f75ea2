import { type Column, columnNames, type Table, valueType } from '@pm/schemas/tables/create-table';
import type { PlannedTable } from './plan.ts';

/** Columns that name the log record of a row. */
const place = ['partition', 'in_offset', 'event_index'];

/** Time limit of a statement over a whole day of a table, seconds. */
const longestS = 800;
/** Sorting uses the disk beyond so many bytes; a reader prefetches no more. */
const sortedInMemory = 256 * 1024 * 1024;
/** Read buffer of a sort on disk, per file, bytes. */
const sortBlock = 2_000_000;
/** Rows of a row group: the unit that writer and readers hold in memory. */
const rowGroup = 100_000;
/** Threads and block size of a statement: a day is written while the exchange serves readers. */
const gentle = ['max_threads = 2', 'max_block_size = 16384'];

/** Whether rows name their record of the log. */
export function hasPlace(table: Table): boolean {
  return place.every((name) => table.columns.some((column) => column.name === name));
}

/** Sort columns of a file: the log position of its rows, else the key of the table. */
export function orderOf(table: Table): readonly string[] {
  if (!hasPlace(table)) return table.orderBy;
  return [...place, ...table.orderBy.filter((name) => !place.includes(name))];
}

function from({ table, condition }: PlannedTable): string {
  return `FROM ${table.name} FINAL${condition === null ? '' : ` WHERE ${condition}`}`;
}

/** Enumerations are written as text: readers of Parquet read its own enumerations as bytes. */
function written(column: Column): string {
  const { name } = column;
  return valueType(column).startsWith('Enum') ? `toString(${name}) AS ${name}` : name;
}

/**
 * All rows of a planned table as one Parquet file, each once. Text of fixed length is written as text, enumerations by
 * their names, decimals and times as such (UTC).
 */
export function rowsSql(planned: PlannedTable): string {
  const settings = [
    ...gentle,
    `max_execution_time = ${longestS}`,
    `max_bytes_before_external_sort = ${sortedInMemory}`,
    // By default a share of the server's memory counts instead of the bytes.
    'max_bytes_ratio_before_external_sort = 0',
    `prefer_external_sort_block_bytes = ${sortBlock}`,
    'output_format_parquet_parallel_encoding = 0',
    `output_format_parquet_compression_method = 'zstd'`,
    `output_format_parquet_row_group_size = ${rowGroup}`,
    'output_format_parquet_fixed_string_as_fixed_byte_array = 0',
    'output_format_parquet_string_as_string = 1',
  ];
  const { table } = planned;
  return `SELECT ${table.columns.map(written).join(', ')} ${from(planned)}
ORDER BY ${orderOf(table).join(', ')}
FORMAT Parquet SETTINGS ${settings.join(', ')}`;
}

/** Settings to read a written file back; the engine for it is part of this program. */
const readingBack = `SETTINGS ${[...gentle, `input_format_parquet_memory_high_watermark = ${sortedInMemory}`].join(', ')}`;

/**
 * `rows` and `content` of any source of rows: `content` is the sum of a 64-bit hash of each row, modulo 2^64, so it
 * does not depend on the order of rows, and differs when a row is missing, doubled or changed in any column. A row is
 * hashed as one tuple: of arguments of which one is NULL the hash would be NULL, and count in no sum.
 */
function contentOf(table: Table): string {
  const columns = columnNames(table).join(', ');
  return `toString(count()) AS rows, toString(sum(sipHash64(tuple(${columns})))) AS content`;
}

/** Rows and content hash of a planned table on the server. */
export function tableContentSql(planned: PlannedTable): string {
  return `SELECT ${contentOf(planned.table)} ${from(planned)}
SETTINGS max_execution_time = ${longestS}, ${gentle.join(', ')}`;
}

/** Rows and content hash of a written file, read with the types of the table. */
export function fileContentSql(table: Table, file: string): string {
  return `SELECT ${contentOf(table)} FROM ${fileSource(table, file)} ${readingBack}`;
}

/** First and last log position of each partition in a written file. */
export function fileRangesSql(table: Table, file: string): string {
  return `SELECT partition, toString(count()) AS rows,
  toString(min((in_offset, event_index)).1) AS first_in_offset, min((in_offset, event_index)).2 AS first_event_index,
  toString(max((in_offset, event_index)).1) AS last_in_offset, max((in_offset, event_index)).2 AS last_event_index
FROM ${fileSource(table, file)}
GROUP BY partition ORDER BY partition ${readingBack}`;
}

function fileSource(table: Table, file: string): string {
  const structure = table.columns.map(({ name, type }) => `${name} ${type}`).join(', ');
  return `file(${quoted(file)}, 'Parquet', ${quoted(structure)})`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
