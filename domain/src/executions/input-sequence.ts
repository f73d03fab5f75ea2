import type { Execution } from '@pm/schemas/log/executions';

/**
 * Records of `executions` follow the input densely; a retry or an old owner can only repeat one (architecture.md).
 * `next` is new, `repeated` changes nothing, `gap` is a record that is missing before it.
 */
export type SequenceResult = 'next' | 'repeated' | 'gap';

export class InputSequence {
  #last: number;

  /** `last`: input offset of the newest record taken; -1 at the start of the log. */
  constructor(last: number) {
    this.#last = last;
  }

  get last(): number {
    return this.#last;
  }

  take({ inOffset }: Pick<Execution, 'inOffset'>): SequenceResult {
    if (inOffset <= this.#last) return 'repeated';
    if (inOffset > this.#last + 1) return 'gap';
    this.#last = inOffset;
    return 'next';
  }
}

/** The newest input whose output is in front of an offset of `executions`, and the clock of the partition there. */
export interface NewestInput {
  readonly inOffset: number;
  /** Unix milliseconds. */
  readonly clockMs: number;
}
