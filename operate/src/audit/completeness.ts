import type { CompletePartition } from '@pm/deploy/installation/completeness';
import type { Execution } from '@pm/schemas';

/**
 * Judges what table `completeness` said before the log was read: in each partition the last record in front of its `through_offset`
 * must be the one that `next_in_offset` and `through` tell of.
 */
export class CompletenessCheck {
  readonly #told: readonly CompletePartition[];
  readonly #ends: ReadonlyMap<number, number>;
  readonly #last = new Map<number, { readonly inOffset: number; readonly timeMs: number }>();

  constructor(told: readonly CompletePartition[]) {
    this.#told = told;
    this.#ends = new Map(told.map(({ partition, throughOffset }) => [partition, throughOffset]));
  }

  record(partition: number, { inOffset, timeMs }: Execution, offset: number): void {
    if (offset < (this.#ends.get(partition) ?? 0)) this.#last.set(partition, { inOffset, timeMs });
  }

  /** `endOf`: the offset behind the last record of a partition that was read. */
  wrong(endOf: (partition: number) => number): string[] {
    return this.#told.flatMap((told) => {
      const { partition, throughOffset } = told;
      const where = `P1 completeness, partition ${partition}`;
      if (throughOffset > endOf(partition))
        return [`${where}: ${throughOffset} records, the log has ${endOf(partition)}`];
      const { inOffset, timeMs } = this.#last.get(partition) ?? { inOffset: -1, timeMs: 0 };
      if (told.nextInOffset === inOffset + 1 && told.throughMs === timeMs) return [];
      const says = `${told.nextInOffset} at ${told.throughMs}`;
      return [`${where}: ${says} instead of ${inOffset + 1} at ${timeMs}`];
    });
  }
}
