import type { KeyedMutex } from '@pm/domain/commands/keyed-mutex.io';

/**
 * The locks of changes to the catalog in this process (operator.md). A change reads under its lock what it changes, so
 * it starts from what the one before has written. Changes that give numbers or slugs, or change an event, hold the lock
 * of the catalog; changes of a market hold that of the market, so that a halt waits for no import. A change that needs
 * both takes that of the catalog first, so there is no deadlock.
 */
export class CatalogLocks {
  readonly #mutex: Pick<KeyedMutex, 'run'>;

  constructor(mutex: Pick<KeyedMutex, 'run'>) {
    this.#mutex = mutex;
  }

  catalog<T>(task: () => Promise<T>): Promise<T> {
    return this.#mutex.run('catalog', task);
  }

  market<T>(market: number, task: () => Promise<T>): Promise<T> {
    return this.#mutex.run(`market:${market}`, task);
  }
}
