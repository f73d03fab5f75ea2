interface Shared<T> {
  /** Settles when the read under way is done. */
  readonly current: Promise<unknown>;
  /** The read that all later requests wait for. */
  next: Promise<T> | null;
}

/**
 * Reads that are the same and come at the same time share one: a request that comes while one is under way waits for
 * the next, which begins when that one is done. So no answer is older than its request, and of each read at most one is
 * under way. There are never more than requests at hand.
 */
export class SharedReads<T> {
  readonly #shared = new Map<string, Shared<T>>();

  /** `name` says what is read; two reads of one name must come to the same. */
  read(name: string, read: () => Promise<T>): Promise<T> {
    const shared = this.#shared.get(name);
    if (shared !== undefined) {
      const begin = (): Promise<T> => this.#begin(name, read);
      shared.next ??= shared.current.then(begin, begin);
      return shared.next;
    }
    return this.#begin(name, read);
  }

  #begin(name: string, read: () => Promise<T>): Promise<T> {
    const current = read();
    const shared: Shared<T> = { current, next: null };
    this.#shared.set(name, shared);
    const done = (): void => {
      if (shared.next === null) this.#shared.delete(name);
    };
    current.then(done, done);
    return current;
  }
}
