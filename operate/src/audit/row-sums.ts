import type { Table } from '@pm/schemas/tables/create-table';
import { digestOf, digestSql, mixOf, mixSql } from './digests.ts';

/** A row as numbers (`digests.ts`) and NULLs, in the order of the columns of its table. */
export type Cells = readonly (number | null)[];

/** Count and sums of rows. */
export interface RowSum {
  readonly rows: number;
  /**
   * Per column the sum of the digests, each times a weight that follows from the key of its row, modulo 2^32: it
   * differs when a cell is changed, two rows have exchanged theirs, or a row is missing or too many.
   */
  readonly sums: readonly number[];
}

/** Sums up rows of one table, by partition. */
export class RowSums {
  readonly table: Table;
  readonly #key: readonly number[];
  readonly #partitions = new Map<number, { rows: number; readonly sums: Uint32Array }>();

  constructor(table: Table) {
    this.table = table;
    this.#key = keyColumns(table);
  }

  add(partition: number, cells: Cells): void {
    const sum = this.#of(partition);
    const digests = cells.map(digestOf);
    const weight = mixOf(this.#key.map((index) => digests[index] ?? 0)) | 1;
    sum.rows += 1;
    for (let index = 0; index < digests.length; index += 1)
      sum.sums[index] = (sum.sums[index] ?? 0) + Math.imul(digests[index] ?? 0, weight);
  }

  /** Count and sums of the rows of a partition. */
  of(partition: number): RowSum {
    const { rows, sums } = this.#of(partition);
    return { rows, sums: [...sums] };
  }

  get partitions(): Iterable<number> {
    return this.#partitions.keys();
  }

  #of(partition: number) {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const fresh = { rows: 0, sums: new Uint32Array(this.table.columns.length) };
    this.#partitions.set(partition, fresh);
    return fresh;
  }
}

/** Indexes of the key columns of a table. */
export function keyColumns({ columns, orderBy }: Table): readonly number[] {
  return orderBy.map((name) => columns.findIndex((column) => column.name === name));
}

/** Rows that changed after the end of the log that was read, as conditions on the columns of a source. */
export interface Changed {
  /** True for rows that are not summed. */
  readonly isChanged: string;
  /** True for those of them whose keys are returned. */
  readonly isListed: string;
}

const nothingChanged: Changed = { isChanged: 'false', isListed: 'false' };

/**
 * `partition`, `found`, `sums` and `changed` (keys, their digests with spaces) of the rows of `source`, which has the
 * columns of the table and `partition`. One pass over the source: a row that is replaced meanwhile is either summed or
 * listed, never neither.
 */
export function rowSumsSql(
  table: Table,
  source: string,
  changed: Changed = nothingChanged,
): string {
  const digests = table.columns.map((column, index) => `${digestSql(column)} AS digest_${index}`);
  const key = keyColumns(table).map((index) => `digest_${index}`);
  const sums = table.columns.map(
    (_, index) => `toUInt32(sumIf(toUInt64(digest_${index}) * weight, NOT is_changed))`,
  );
  const keyText = `arrayStringConcat([${key.map((digest) => `toString(${digest})`).join(', ')}], ' ')`;
  return `SELECT partition, toString(countIf(NOT is_changed)) AS found, [${sums.join(', ')}] AS sums,
      groupArrayIf(${keyText}, is_listed) AS changed
    FROM (SELECT partition, ${digests.join(', ')}, ${mixSql(key, 'mixed').join(', ')}, bitOr(mixed, 1) AS weight,
      (${changed.isChanged}) AS is_changed, is_changed AND (${changed.isListed}) AS is_listed FROM ${source})
    GROUP BY partition`;
}
