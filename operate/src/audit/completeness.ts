import type { CompletePartition } from '@pm/deploy/installation/completeness';
import type { Execution } from '@pm/schemas/log/executions';

/**
 * Judges the rows of table `completeness` that were read before the log: in each partition the last record before
 * `through_offset` must be the one that `next_in_offset` and `through` name.
 */
export class CompletenessCheck {
  readonly #rows: readonly CompletePartition[];
  readonly #ends: ReadonlyMap<number, number>;
  readonly #last = new Map<number, { readonly inOffset: number; readonly timeMs: number }>();

  constructor(rows: readonly CompletePartition[]) {
    this.#rows = rows;
    this.#ends = new Map(rows.map(({ partition, throughOffset }) => [partition, throughOffset]));
  }

  record(partition: number, { inOffset, timeMs }: Execution, offset: number): void {
    if (offset < (this.#ends.get(partition) ?? 0)) this.#last.set(partition, { inOffset, timeMs });
  }

  /** `endOf`: the offset after the last record of a partition that was read. */
  wrong(endOf: (partition: number) => number): string[] {
    return this.#rows.flatMap((row) => {
      const { partition, throughOffset } = row;
      const where = `P1 completeness, partition ${partition}`;
      if (throughOffset > endOf(partition))
        return [`${where}: ${throughOffset} records, the log has ${endOf(partition)}`];
      const { inOffset, timeMs } = this.#last.get(partition) ?? { inOffset: -1, timeMs: 0 };
      if (row.nextInOffset === inOffset + 1 && row.throughMs === timeMs) return [];
      const stated = `${row.nextInOffset} at ${row.throughMs}`;
      return [`${where}: ${stated} instead of ${inOffset + 1} at ${timeMs}`];
    });
  }
}
