import type { Execution } from '@pm/schemas/log/executions';
import type { Table } from '@pm/schemas/tables/create-table';
import { tables } from '@pm/schemas/tables/tables';
import { RowWriter, type TableRows } from './row-writer.ts';

/** How far a partition is folded: clock of the last record (Unix milliseconds) and the next input offset. */
export interface FoldedTo {
  readonly timeMs: number;
  readonly nextInOffset: number;
}

export function foldedTo({ timeMs, inOffset }: Execution): FoldedTo {
  return { timeMs, nextInOffset: inOffset + 1 };
}

/**
 * The row of table `completeness` that ends a batch; it follows from the batch alone, so a repetition writes it again.
 */
export function completenessRows(
  partition: number,
  throughOffset: number,
  { timeMs, nextInOffset }: FoldedTo,
): TableRows {
  const row = new RowWriter(tables.completeness);
  row.word('tables').int(partition).int(throughOffset).int(nextInOffset).time(timeMs).end();
  return row.take();
}

/**
 * Tables that are written last, in this order. A table of a later stage contains nothing that the tables of earlier
 * stages lack: the views are restored from `positions`, so all rows made together with it are inserted before; the
 * remaining size of an open order is read from `order_events`; and `completeness` stands for all tables.
 */
const lastStages: readonly (readonly Table[])[] = [
  [tables.openOrders, tables.positions],
  [tables.completeness],
];

/** The tables of a batch that have rows, stage by stage; those of one stage may be written in any order. */
export function inStages(batch: readonly TableRows[]): readonly (readonly TableRows[])[] {
  const last = lastStages.flat();
  const filled = batch.filter(({ count }) => count > 0);
  const first = filled.filter(({ table }) => !last.includes(table));
  const others = lastStages.map((stage) => filled.filter(({ table }) => stage.includes(table)));
  return [first, ...others].filter((stage) => stage.length > 0);
}

/** Whether a batch has no other rows: nothing happened in it. */
export function isRest(batch: readonly TableRows[]): boolean {
  return batch.every(({ table, count }) => count === 0 || table === tables.completeness);
}
