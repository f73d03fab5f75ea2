import { setTimeout as wait } from 'node:timers/promises';

/**
 * Calls that come while one is under way go together in the next, which begins after it. With `gatherMs` the first of
 * them waits so long for others: the partitions of a process ask within milliseconds of each other.
 */
export class JoinedCalls<Part, Answer> {
  readonly #run: (parts: readonly Part[]) => Promise<Answer>;
  readonly #gatherMs: number;
  /** Parts of the next call: one for each partition of this process at most. */
  #waiting: Part[] = [];
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<Answer> | null = null;

  constructor(run: (parts: readonly Part[]) => Promise<Answer>, { gatherMs = 0 } = {}) {
    this.#run = run;
    this.#gatherMs = gatherMs;
  }

  call(part: Part): Promise<Answer> {
    this.#waiting.push(part);
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<Answer> {
    if (this.#gatherMs > 0) await wait(this.#gatherMs);
    // Its fault belongs to those who waited for it.
    await this.#current.catch(() => {});
    const parts = this.#waiting;
    this.#waiting = [];
    this.#next = null;
    const current = this.#run(parts);
    this.#current = current;
    return await current;
  }
}
