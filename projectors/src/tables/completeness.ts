import { type Execution, tables } from '@pm/schemas';
import { RowWriter, type TableRows } from './row-writer.ts';

/** What a partition has come to, by the last record folded: its clock (Unix milliseconds) and the next input offset. */
export interface FoldedTo {
  readonly timeMs: number;
  readonly nextInOffset: number;
}

export function foldedTo({ timeMs, inOffset }: Execution): FoldedTo {
  return { timeMs, nextInOffset: inOffset + 1 };
}

/** The row of table `completeness` that ends a batch; it follows from the batch alone, so a repetition writes it again. */
export function completenessRows(
  partition: number,
  throughOffset: number,
  { timeMs, nextInOffset }: FoldedTo,
): TableRows {
  const row = new RowWriter(tables.completeness);
  row.word('tables').int(partition).int(throughOffset).int(nextInOffset).time(timeMs).end();
  return row.take();
}
