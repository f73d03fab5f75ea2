/** A process that uses this part of a processor loads something; one that waits in vain uses a fiftieth. */
const loadingShare = 0.05;

/**
 * How long a process may take until it is ready: so long without work. Started again it would load everything once
 * more, so a start takes as long as what has grown needs.
 */
export class StartLimit {
  readonly #limitMs: number;
  #endsAtMs = 0;
  #usedSeconds = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.begin();
  }

  /** The time begins once more. */
  begin(): void {
    this.#endsAtMs = performance.now() + this.#limitMs;
  }

  get isOver(): boolean {
    return performance.now() > this.#endsAtMs;
  }

  /**
   * Takes the processor time that the process has used since its start, seconds. @returns whether it has worked since
   * the time began; then it begins once more.
   */
  extend(usedSeconds: number): boolean {
    const hasWorked = usedSeconds - this.#usedSeconds >= (loadingShare * this.#limitMs) / 1_000;
    this.#usedSeconds = usedSeconds;
    if (hasWorked) this.begin();
    return hasWorked;
  }
}
