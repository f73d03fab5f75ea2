import { runOfSequence } from '@pm/schemas/log/orders';
import { assume } from '../assumption.ts';

/** Runs of a key whose newest sequence is kept; processes that send under one key at once are far fewer. */
export const runsMax = 64;

/**
 * Which sequences of a key are used: in a run that is kept, all up to its newest; of all other runs, those up to a
 * floor, which is at or above every sequence that was taken of a run that is no longer kept.
 */
export class UsedSequences {
  #floor: number;
  /** The newest sequence of each kept run, ascending. */
  readonly #newest: number[];

  /** Throws `BrokenAssumption` for what no key can have come to. */
  constructor(floor = -1, newest: readonly number[] = []) {
    assume(newest.length <= runsMax, 'a key keeps a bounded number of runs');
    const rise = newest.every(
      (one, at) => at === 0 || runOfSequence(one) > runOfSequence(newest[at - 1] as number),
    );
    assume(rise, 'runs of a key rise');
    this.#floor = floor;
    this.#newest = [...newest];
  }

  get floor(): number {
    return this.#floor;
  }

  /** The newest sequence of each kept run, ascending. */
  get newest(): readonly number[] {
    return this.#newest;
  }

  has(sequence: number): boolean {
    const kept = this.#newest[this.#placeOf(sequence)];
    const isKept = kept !== undefined && runOfSequence(kept) === runOfSequence(sequence);
    return sequence <= (isKept ? kept : this.#floor);
  }

  /** The sequence is used, with all before it in its run. */
  add(sequence: number): void {
    if (this.has(sequence)) return;
    const place = this.#placeOf(sequence);
    const kept = this.#newest[place];
    if (kept !== undefined && runOfSequence(kept) === runOfSequence(sequence)) {
      this.#newest[place] = sequence;
      return;
    }
    this.#newest.splice(place + 1, 0, sequence);
    if (this.#newest.length > runsMax) this.addAllTo(this.#newest[0] as number);
  }

  /** All up to this sequence are used. */
  addAllTo(sequence: number): void {
    this.#floor = Math.max(this.#floor, sequence);
    const above = this.#newest.findIndex((one) => one > sequence);
    this.#newest.splice(0, above === -1 ? this.#newest.length : above);
  }

  /** The place of the sequence's run, or of the one before it; -1 when there is none. Most are of the last one. */
  #placeOf(sequence: number): number {
    const run = runOfSequence(sequence);
    for (let place = this.#newest.length - 1; place >= 0; place -= 1) {
      if (runOfSequence(this.#newest[place] as number) <= run) return place;
    }
    return -1;
  }
}
