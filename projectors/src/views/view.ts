import type { Execution, Table } from '@pm/schemas';
import { RowWriter, type TableRows } from '../tables/row-writer.ts';

/** One view of one partition: folds records in log order, and hands its rows over when a batch ends. */
export interface View {
  fold(execution: Execution): void;
  /** Rows that `take` would return now. */
  readonly pendingRows: number;
  /** The rows since the last call. */
  take(): readonly TableRows[];
}

/** Where a row comes from: the first four columns of every table of events. */
export interface RowSource {
  readonly partition: number;
  readonly inOffset: number;
  readonly index: number;
  readonly timeMs: number;
}

export function writeSource(
  to: RowWriter,
  { partition, inOffset, index, timeMs }: RowSource,
): RowWriter {
  return to.int(partition).int(inOffset).int(index).time(timeMs);
}

/** A view of one table whose rows follow from the record alone. */
export function recordView(
  table: Table,
  write: (execution: Execution, to: RowWriter) => void,
): View {
  const rows = new RowWriter(table);
  return {
    fold: (execution) => write(execution, rows),
    get pendingRows() {
      return rows.count;
    },
    take: () => [rows.take()],
  };
}
