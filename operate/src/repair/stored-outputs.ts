import { StackError } from '@pm/deploy/local/stack-error';

/** A record of `executions` as it is stored. */
export interface StoredOutput {
  readonly offset: number;
  readonly value: Buffer;
  /** When it was appended, Unix milliseconds. */
  readonly timestampMs: number;
  readonly inOffset: number;
  /** Chain over everything up to this output: equal chains mean equal outputs up to here. */
  readonly chain: Buffer;
}

/** The output that an input gives, computed again. */
export interface ComputedOutput {
  readonly inOffset: number;
  readonly value: Buffer;
  readonly chain: Buffer;
}

/** Inputs [from, to) whose outputs are missing before the record at this offset. */
export interface OutputGap {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

/** Where the records of a partition in their new order go; those that were missing have no time. */
export type OutputSink = (value: Buffer, timestampMs?: number) => Promise<void>;

/**
 * Goes through the stored outputs of a partition in order and computes each again. Passes every stored record on
 * with its time, copies among them, and between them the outputs that are missing. So every record before the first gap
 * keeps its offset, and those after it get the one that they would have without the loss.
 *
 * Throws a `StackError` when a stored output is not what its input gives: then these are not the outputs of these
 * orders by today's rules, and nothing can be repaired.
 */
export class OutputLayout {
  readonly gaps: OutputGap[] = [];
  readonly #partition: number;
  readonly #compute: () => Promise<ComputedOutput>;
  readonly #sink: OutputSink;
  #next = 0;

  constructor(partition: number, compute: () => Promise<ComputedOutput>, sink: OutputSink) {
    this.#partition = partition;
    this.#compute = compute;
    this.#sink = sink;
  }

  async take({ offset, value, timestampMs, inOffset, chain }: StoredOutput): Promise<void> {
    if (inOffset > this.#next) await this.#fill(inOffset, offset);
    if (inOffset === this.#next) {
      const computed = await this.#computeNext();
      if (!computed.chain.equals(chain)) throw differing(this.#partition, inOffset, offset);
    }
    await this.#sink(value, timestampMs);
  }

  async #fill(to: number, offset: number): Promise<void> {
    this.gaps.push({ partition: this.#partition, from: this.#next, to, offset });
    while (this.#next < to) await this.#sink((await this.#computeNext()).value);
  }

  async #computeNext(): Promise<ComputedOutput> {
    const computed = await this.#compute();
    this.#next = computed.inOffset + 1;
    return computed;
  }
}

function differing(partition: number, inOffset: number, offset: number): StackError {
  return new StackError(
    'BAD_DESCRIPTION',
    `partition ${partition}: the output at offset ${offset} is not what input ${inOffset} gives. It was written by other rules, or orders were changed. Nothing was changed.`,
  );
}
