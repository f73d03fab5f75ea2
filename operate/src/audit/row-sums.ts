import type { Table } from '@pm/schemas';
import { mixOf, mixSql, wordOf, wordSql } from './digests.ts';

/** A row as numbers (`words.ts`), in the order of the columns of its table. */
export type Cells = readonly number[];

/** What rows come to. */
export interface RowSum {
  readonly rows: number;
  /**
   * Of each column the sum of its words, each times a number that follows from the key of its row, modulo 2^32: another one when a
   * cell is changed, two rows have exchanged theirs, or a row is missing or too many.
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
    const words = cells.map(wordOf);
    const weight = mixOf(this.#key.map((index) => words[index] ?? 0)) | 1;
    sum.rows += 1;
    for (let index = 0; index < words.length; index += 1)
      sum.sums[index] = (sum.sums[index] ?? 0) + Math.imul(words[index] ?? 0, weight);
  }

  /** What the rows of a partition come to. */
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

/** Places of the columns that tell rows of a table apart. */
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
 * `partition`, `found`, `sums` and `changed` (keys, their words with spaces) of the rows of `source`, which has the columns of the
 * table and `partition`. One pass over the source: a row that is replaced meanwhile is either summed or listed, never neither.
 */
export function rowSumsSql(
  table: Table,
  source: string,
  changed: Changed = nothingChanged,
): string {
  const words = table.columns.map((column, index) => `${wordSql(column)} AS word_${index}`);
  const key = keyColumns(table).map((index) => `word_${index}`);
  const sums = table.columns.map(
    (_, index) => `toUInt32(sumIf(toUInt64(word_${index}) * weight, NOT is_changed))`,
  );
  const keyText = `arrayStringConcat([${key.map((word) => `toString(${word})`).join(', ')}], ' ')`;
  return `SELECT partition, toString(countIf(NOT is_changed)) AS found, [${sums.join(', ')}] AS sums,
      groupArrayIf(${keyText}, is_listed) AS changed
    FROM (SELECT partition, ${words.join(', ')}, ${mixSql(key, 'mixed').join(', ')}, bitOr(mixed, 1) AS weight,
      (${changed.isChanged}) AS is_changed, is_changed AND (${changed.isListed}) AS is_listed FROM ${source})
    GROUP BY partition`;
}
