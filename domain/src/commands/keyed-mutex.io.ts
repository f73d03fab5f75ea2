import { Fault } from '@pm/kit/fault';

/** Tasks that wait or run, over all keys; the next one is refused. */
export const waitingTasksMax = 10_000;

/**
 * Serialises tasks of one key in the order of their calls; tasks of different keys run concurrently. It is for values
 * that are read, changed and written as a whole.
 */
export class KeyedMutex {
  readonly #last = new Map<string, Promise<unknown>>();
  #tasks = 0;

  /** Rejects with what the task throws, or with `too_many_changes` (retry) when too many wait. */
  run<T>(key: string, task: () => Promise<T>): Promise<T> {
    if (this.#tasks >= waitingTasksMax) throw new Fault('too_many_changes', 'retry');
    this.#tasks += 1;
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(task, task).finally(() => {
      this.#tasks -= 1;
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    const settled = mine.catch(() => {});
    this.#last.set(key, settled);
    return mine;
  }
}
