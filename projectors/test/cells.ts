import { columnNames, type Table } from '@pm/schemas';
import type { TableRows } from '../src/core/row-writer.ts';

/** Cells in the order of the columns; unsigned integers are numbers, everything else is text. */
export type Row = readonly (string | number)[];

/** What the bytes say. */
export function cellsOf({ table, bytes }: TableRows): readonly Row[] {
  const isNumber = table.columns.map(({ type }) => type.startsWith('UInt'));
  const lines = bytes.toString('latin1').split('\n').slice(0, -1);
  return lines.map((line) =>
    line.split('\t').map((cell, index) => (isNumber[index] ? Number(cell) : cell)),
  );
}

/** A row by its column names. */
export function named(table: Table, row: Row | undefined): Record<string, unknown> {
  return Object.fromEntries(columnNames(table).map((name, index) => [name, row?.[index]]));
}

/** Rows of tests as the bytes of a view. */
export function rowsWith(table: Table, rows: readonly Row[]): TableRows {
  const lines = rows.map((row) => `${row.join('\t')}\n`);
  return { table, count: rows.length, bytes: Buffer.from(lines.join('')) };
}
