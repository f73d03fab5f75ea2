import type { Execution, Table } from '@pm/schemas';

/** Cells in the order of `columnNames(table)`; decimals and times as text. */
export type Row = readonly (string | number)[];

export interface TableRows {
  readonly table: Table;
  readonly rows: readonly Row[];
}

/** One view of one partition: folds records in log order, and hands its rows over when a batch ends. */
export interface View {
  fold(execution: Execution): void;
  /** Rows that `take` would return now. */
  readonly pendingRows: number;
  /** The rows since the last call. */
  take(): readonly TableRows[];
}

/** A view whose rows follow from the record alone. */
export function recordView(
  tables: readonly Table[],
  rowsOf: (execution: Execution) => readonly (readonly Row[])[],
): View {
  let pending: Row[][] = tables.map(() => []);
  let count = 0;
  return {
    fold(execution) {
      for (const [index, rows] of rowsOf(execution).entries()) {
        for (const row of rows) pending[index]?.push(row);
        count += rows.length;
      }
    },
    get pendingRows() {
      return count;
    },
    take() {
      const taken = tables.map((table, index) => ({ table, rows: pending[index] ?? [] }));
      pending = tables.map(() => []);
      count = 0;
      return taken;
    },
  };
}
