import { sequencesPerRun } from '@pm/schemas/log/orders';

/** The sequences that this process has used under one key, as many as a run has, with their partitions. */
export class SentSequences {
  readonly #partitions = new Map<number, number>();

  /** Adds a sequence and returns it. */
  add(sequence: number, partition: number): number {
    const [oldest] = this.#partitions.keys();
    if (this.#partitions.size >= sequencesPerRun && oldest !== undefined)
      this.#partitions.delete(oldest);
    this.#partitions.set(sequence, partition);
    return sequence;
  }

  has(sequence: number, partition: number): boolean {
    return this.#partitions.get(sequence) === partition;
  }
}
