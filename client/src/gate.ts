import { ExchangeError, overloadedCode } from './errors.ts';

/** Lets so many through at a time; so many more may wait, in order of arrival. */
export class Gate {
  readonly #limits: { readonly concurrent: number; readonly waiting: number };
  readonly #queue: (() => void)[] = [];
  #running = 0;

  constructor(limits: { readonly concurrent: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /** Throws an `ExchangeError` with the code `client_overloaded` when too many wait already. */
  async pass<T>(action: () => Promise<T>): Promise<T> {
    if (this.#running < this.#limits.concurrent) this.#running += 1;
    else await this.#wait();
    try {
      return await action();
    } finally {
      // A turn is handed on, so that nobody who comes now is before those who wait.
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #wait(): Promise<void> {
    if (this.#queue.length >= this.#limits.waiting) {
      const error = `more than ${this.#limits.waiting} requests of this client wait to be sent`;
      throw new ExchangeError(503, { error, code: overloadedCode });
    }
    return new Promise((resolve) => this.#queue.push(resolve));
  }
}
