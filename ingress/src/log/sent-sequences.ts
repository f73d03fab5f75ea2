/** Sequences kept: an envelope is read back long before this process has sent so many others. */
const keptMax = 65_536;

/** The sequences that this process has used under one key. */
export class SentSequences {
  readonly #sent = new Set<number>();
  #first = Number.POSITIVE_INFINITY;

  /** Adds a sequence and returns it. */
  add(sequence: number): number {
    this.#first = Math.min(this.#first, sequence);
    const [oldest] = this.#sent;
    if (this.#sent.size >= keptMax && oldest !== undefined) this.#sent.delete(oldest);
    this.#sent.add(sequence);
    return sequence;
  }

  /** Whether another process used it while this one sends: smaller ones are of processes before this one. */
  isForeign(sequence: number): boolean {
    return sequence > this.#first && !this.#sent.has(sequence);
  }
}
