import { ExchangeError, overloadedCode } from './errors.ts';

/** Limits concurrent actions and the queue of waiting ones, in order of arrival. */
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
      // The slot goes to the longest waiting action, so that a new one does not overtake it.
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
