/** Longest wait for results that the ledger has seen before this process, milliseconds. */
const reachWaitMs = 500;

/** Requests that wait for that at once; for more the answer is at once what is known. */
const waitingMax = 4_000;

interface Waiting {
  readonly partition: number;
  readonly offset: number;
  settle(isReached: boolean): void;
}

/**
 * How far this process has read `executions`. The ledger follows the same topic on its own and may be ahead: what it
 * says is compared with the results here only once they have been read as far.
 */
export class ReadOffsets {
  readonly #next: Map<number, number>;
  readonly #end: Map<number, number>;
  readonly #waitMs: number;
  readonly #waiting = new Set<Waiting>();

  /** `next`: the offset of each partition that is read first. */
  constructor(next: ReadonlyMap<number, number>, waitMs = reachWaitMs) {
    this.#next = new Map(next);
    this.#end = new Map(next);
    this.#waitMs = waitMs;
  }

  /** Records before this offset are taken from here on: what is answered of them may be of the last one. */
  begin(partition: number, end: number): void {
    this.#end.set(partition, end);
  }

  /** An offset above those of all records of which anything can have been answered. */
  place(partition: number): number {
    return this.#end.get(partition) ?? 0;
  }

  /** Everything before this offset has been taken. */
  note(partition: number, next: number): void {
    this.#next.set(partition, next);
    for (const waiting of this.#waiting)
      if (waiting.partition === partition && waiting.offset <= next) waiting.settle(true);
  }

  /** Whether everything before this offset has been taken, now or after a short wait. */
  reach(partition: number, offset: number): Promise<boolean> {
    const isReached = offset <= (this.#next.get(partition) ?? 0);
    if (isReached || this.#waitMs === 0 || this.#waiting.size >= waitingMax)
      return Promise.resolve(isReached);
    return new Promise((resolve) => {
      const settle = (result: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        resolve(result);
      };
      const timer = setTimeout(settle, this.#waitMs, false);
      const waiting: Waiting = { partition, offset, settle };
      this.#waiting.add(waiting);
    });
  }
}
