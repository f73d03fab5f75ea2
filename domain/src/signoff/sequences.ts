/** A process sends fewer envelopes in a millisecond than this. */
const sequencesPerMs = 1_000;

/**
 * The sequences of the envelopes of one key: each is larger than all before it in this process, and at least the time,
 * so that they also rise from process to process and from machine to machine. A machine whose clock was set back sends
 * nothing that counts until its clock has passed its earlier envelopes; its orders would be too late as well.
 */
export class Sequences {
  #last = -1;

  /** The next one; `nowMs` is Unix milliseconds. */
  next(nowMs: number): number {
    this.#last = Math.max(this.#last + 1, Math.floor(nowMs) * sequencesPerMs);
    return this.#last;
  }

  /** Begins after a sequence that the log has accepted of this key. */
  pass(sequence: number): void {
    this.#last = Math.max(this.#last, sequence);
  }
}
