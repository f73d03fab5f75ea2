import type { Table } from '@pm/schemas';
import { mixOf, mixSql, wordOf, wordSql } from './words.ts';

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

/** `partition`, `found` and `sums` of the rows of `source`, which has the columns of the table and `partition`. */
export function rowSumsSql(table: Table, source: string): string {
  const words = table.columns.map((column, index) => `${wordSql(column)} AS word_${index}`);
  const key = keyColumns(table).map((index) => `word_${index}`);
  const sums = table.columns.map((_, index) => `toUInt32(sum(toUInt64(word_${index}) * weight))`);
  return `SELECT partition, toString(count()) AS found, [${sums.join(', ')}] AS sums
    FROM (SELECT partition, ${words.join(', ')}, ${mixSql(key, 'mixed').join(', ')}, bitOr(mixed, 1) AS weight FROM ${source})
    GROUP BY partition`;
}
