import {
  type Column,
  columnNames,
  isNullable,
  type Table,
  valueType,
} from '@pm/schemas/tables/create-table';
import type { TableRows } from '../../src/tables/row-writer.ts';

/** Cells in the order of the columns; unsigned integers are numbers, NULL is null, everything else is text. */
export type Row = readonly (string | number | null)[];

/** The cells of the bytes. */
export function cellsOf(rows: TableRows): readonly Row[] {
  const read = rows.table.columns.map(readerOf);
  return textOf(rows)
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t').map((cell, index) => (read[index] ?? String)(cell)));
}

export function textOf({ pieces }: TableRows): string {
  return Buffer.concat(pieces).toString('latin1');
}

/** As ClickHouse shows cells: symbols by their names, times as UTC. */
function readerOf(column: Column): (cell: string) => string | number | null {
  const read = valueReaderOf(valueType(column));
  return isNullable(column) ? (cell) => (cell === '\\N' ? null : read(cell)) : read;
}

function valueReaderOf(type: string): (cell: string) => string | number {
  if (type.startsWith('UInt')) return Number;
  if (type.startsWith('Enum8'))
    return (cell) => type.split(` = ${cell}`)[0]?.split("'").at(-2) ?? '';
  if (!type.startsWith('DateTime')) return String;
  const shown = type.startsWith('DateTime64') ? 23 : 19;
  return (cell) =>
    new Date(Math.round(Number(cell) * 1_000)).toISOString().replace('T', ' ').slice(0, shown);
}

/** A row by its column names. */
export function named(table: Table, row: Row | undefined): Record<string, unknown> {
  return Object.fromEntries(columnNames(table).map((name, index) => [name, row?.[index]]));
}

/** Rows of tests as the bytes of a view. */
export function rowsWith(table: Table, rows: readonly Row[]): TableRows {
  const lines = rows.map((row) => `${row.join('\t')}\n`);
  return { table, count: rows.length, pieces: [Buffer.from(lines.join(''))] };
}
