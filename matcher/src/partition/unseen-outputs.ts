import type { OutputRecord } from './record-processor.ts';

/** Bounds of what a replica keeps of its outputs; a single slice may exceed them. */
export interface UnseenLimits {
  readonly outputsMax: number;
  readonly bytesMax: number;
}

export const defaultUnseenLimits: UnseenLimits = {
  outputsMax: 20_000,
  bytesMax: 16 * 1_024 * 1_024,
};

/** Outputs of consecutive inputs, and those inputs of them that were rejected. */
interface KeptSlice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly { readonly record: { readonly offset: number } }[];
}

/** Outputs of a replica that are not known to be stored, in order: those of a standby whose copies it has not seen. */
export class UnseenOutputs<Slice extends KeptSlice> {
  readonly #limits: UnseenLimits;
  readonly #slices: Slice[] = [];
  /** Outputs of the first slice that were seen. */
  #seen = 0;
  #outputs = 0;
  #bytes = 0;

  constructor(limits: UnseenLimits) {
    this.#limits = limits;
  }

  get hasRoom(): boolean {
    return this.#outputs < this.#limits.outputsMax && this.#bytes < this.#limits.bytesMax;
  }

  get outputs(): number {
    return this.#outputs;
  }

  /** The first output whose copy was not seen. */
  get first(): OutputRecord | null {
    return this.#slices[0]?.outputs[this.#seen] ?? null;
  }

  push(slice: Slice): void {
    this.#slices.push(slice);
    this.#count(slice, 1);
  }

  /** Puts slices before all others. */
  putBack(slices: readonly Slice[]): void {
    this.#slices.unshift(...slices);
    for (const slice of slices) this.#count(slice, 1);
  }

  /** The copy of the first output was seen. Gives its slice when it was the last output of it. */
  see(): Slice | null {
    const [slice] = this.#slices;
    const output = slice?.outputs[this.#seen];
    if (slice === undefined || output === undefined) return null;
    this.#seen += 1;
    this.#outputs -= 1;
    this.#bytes -= output.value.length;
    if (this.#seen < slice.outputs.length) return null;
    this.#seen = 0;
    this.#slices.shift();
    return slice;
  }

  /** Takes the first slice, without its outputs that were seen and what was rejected with them. */
  take(): Slice | null {
    const slice = this.#slices.shift();
    if (slice === undefined) return null;
    const outputs = slice.outputs.slice(this.#seen);
    const from = outputs[0]?.inOffset ?? 0;
    const rejected = slice.rejected.filter(({ record }) => record.offset >= from);
    this.#seen = 0;
    const rest = { ...slice, outputs, rejected };
    this.#count(rest, -1);
    return rest;
  }

  #count({ outputs }: KeptSlice, sign: 1 | -1): void {
    this.#outputs += sign * outputs.length;
    for (const { value } of outputs) this.#bytes += sign * value.length;
  }
}
