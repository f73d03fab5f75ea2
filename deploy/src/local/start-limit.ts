/** A process that uses this part of a processor works, on a busy machine too; one that waits uses a fiftieth. */
const workingShare = 0.05;

/**
 * How long a process may take until it is ready. One that works begins its time once more, since it would read
 * everything again after another start, and what it reads grows. Times are those of a monotonic clock, milliseconds.
 */
export class StartLimit {
  readonly #limitMs: number;
  #beganAtMs: number;
  #usedSeconds = 0;
  #extensions = 0;

  /** `limitMs`: for a process that does not work. */
  constructor(limitMs: number, nowMs: number) {
    this.#limitMs = limitMs;
    this.#beganAtMs = nowMs;
  }

  /** All the time that it was given, seconds. */
  get seconds(): number {
    return ((1 + this.#extensions) * this.#limitMs) / 1_000;
  }

  isOver(nowMs: number): boolean {
    return nowMs - this.#beganAtMs > this.#limitMs;
  }

  /** The time begins once more; `usedSeconds` is the processor time that the process has used since its start. */
  begin(nowMs: number, usedSeconds: number): void {
    this.#beganAtMs = nowMs;
    this.#usedSeconds = usedSeconds;
  }

  /** Begins once more if the process has worked since it last did. @returns whether it has. */
  extend(nowMs: number, usedSeconds: number): boolean {
    const leastSeconds = (workingShare * (nowMs - this.#beganAtMs)) / 1_000;
    if (usedSeconds - this.#usedSeconds < leastSeconds) return false;
    this.begin(nowMs, usedSeconds);
    this.#extensions += 1;
    return true;
  }
}
