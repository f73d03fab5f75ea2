import { runOfSequence, sequenceRunMs, sequencesPerRun } from '@pm/schemas/log/orders';

/**
 * The sequences of the envelopes that a process sends under one key: runs of rising numbers. A run begins with the
 * time, so a process that restarts has another one, and several processes may use one key, each with its own run.
 */
export class Sequences {
  readonly #runsAhead: number;
  #run = -1;
  #count = sequencesPerRun;

  /** `runsAhead`: added to the time of a run; where it differs, processes that start at one moment have other runs. */
  constructor(runsAhead = 0) {
    this.#runsAhead = runsAhead;
  }

  /** The next one; `nowMs` is Unix milliseconds. */
  next(nowMs: number): number {
    if (this.#count === sequencesPerRun) this.#begin(nowMs);
    this.#count += 1;
    return this.#run * sequencesPerRun + this.#count - 1;
  }

  /** Whether a sequence is of the run that this process uses now. */
  isOfThisRun(sequence: number): boolean {
    return runOfSequence(sequence) === this.#run;
  }

  /** Begins another run, unless the sequence is of an earlier one of this process. */
  leaveRunOf(sequence: number, nowMs: number): void {
    if (this.isOfThisRun(sequence)) this.#begin(nowMs);
  }

  /** Begins after a sequence. */
  pass(sequence: number): void {
    const run = runOfSequence(sequence);
    if (run < this.#run) return;
    this.#run = run;
    this.#count = sequencesPerRun;
  }

  #begin(nowMs: number): void {
    this.#run = Math.max(Math.floor(nowMs / sequenceRunMs) + this.#runsAhead, this.#run + 1);
    this.#count = 0;
  }
}
