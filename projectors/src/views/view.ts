import type { Execution } from '@pm/schemas/log/executions';
import type { Table } from '@pm/schemas/tables/create-table';
import type { RowMemory } from '../tables/row-memory.ts';
import { RowWriter, type TableRows } from '../tables/row-writer.ts';

/** One view of one partition: folds records in log order, and returns its rows when a batch ends. */
export interface View {
  /** `appendedAtMs`: time of the record in Kafka, Unix milliseconds. Throws `BrokenLog`. */
  fold(execution: Execution, appendedAtMs: number): void;
  /** Rows that `take` would return now. */
  readonly pendingRows: number;
  /** The rows since the last call. */
  take(): readonly TableRows[];
}

/** Origin of a row: the first columns of every table of events (`ofEvent`). */
export interface RowSource {
  readonly partition: number;
  readonly inOffset: number;
  readonly index: number;
  readonly timeMs: number;
  readonly appendedAtMs: number;
}

/** Writes the first cells of a row. */
export function writeSource(
  to: RowWriter,
  { partition, inOffset, index, timeMs, appendedAtMs }: RowSource,
): RowWriter {
  return to.int(partition).int(inOffset).int(index).time(timeMs).time(appendedAtMs);
}

/** A view of one table whose rows follow from the record alone. */
export function recordView(
  table: Table,
  memory: RowMemory,
  write: (execution: Execution, to: RowWriter, appendedAtMs: number) => void,
): View {
  const rows = new RowWriter(table, memory);
  return {
    fold: (execution, appendedAtMs) => write(execution, rows, appendedAtMs),
    get pendingRows() {
      return rows.count;
    },
    take: () => [rows.take()],
  };
}
