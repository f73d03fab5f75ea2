import { sequencesPerRun } from '@pm/schemas';

/** The sequences that this process has used under one key, as many as a run has. */
export class SentSequences {
  readonly #sent = new Set<number>();

  /** Adds a sequence and returns it. */
  add(sequence: number): number {
    const [oldest] = this.#sent;
    if (this.#sent.size >= sequencesPerRun && oldest !== undefined) this.#sent.delete(oldest);
    this.#sent.add(sequence);
    return sequence;
  }

  has(sequence: number): boolean {
    return this.#sent.has(sequence);
  }
}
