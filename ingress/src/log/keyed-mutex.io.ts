import { Fault } from '@pm/kit/fault';

/** Works that wait for their turn, over all names; the next one is refused. */
export const waitingTasksMax = 10_000;

/**
 * One work at a time per name, in the order asked: a change of something that is read first, changed, and written as a whole.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();
  #works = 0;

  /** Rejects with what the work throws, or with `too_many_changes` (retry) when too many wait. */
  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    if (this.#works >= waitingTasksMax) throw new Fault('too_many_changes', 'retry');
    this.#works += 1;
    const before = this.#last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work).finally(() => {
      this.#works -= 1;
      if (this.#last.get(name) === settled) this.#last.delete(name);
    });
    const settled = mine.catch(() => {});
    this.#last.set(name, settled);
    return mine;
  }
}
