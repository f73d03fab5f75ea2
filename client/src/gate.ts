import { canceledCode, ExchangeError, overloadedCode } from './errors.ts';

/** For how long an action may wait for its turn, and what ends the wait before. */
export interface GateWait {
  readonly leftMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Limits concurrent actions and the queue of waiting ones, in order of arrival. */
export class Gate {
  readonly #limits: { readonly concurrent: number; readonly waiting: number };
  /** Each takes the slot that is handed to it. */
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(limits: { readonly concurrent: number; readonly waiting: number }) {
    this.#limits = limits;
  }

  /**
   * Throws an `ExchangeError` without starting the action: with the code `client_overloaded` when too many wait already
   * or its time ends, `client_canceled` when the signal aborts.
   */
  async pass<T>(action: () => Promise<T>, wait: GateWait): Promise<T> {
    if (wait.signal?.aborted === true) throw canceled();
    if (wait.leftMs <= 0) throw late();
    if (this.#running < this.#limits.concurrent) this.#running += 1;
    else await this.#turn(wait);
    try {
      return await action();
    } finally {
      // The slot goes to the longest waiting action, so that a new one does not overtake it.
      const [next] = this.#queue;
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #turn({ leftMs, signal }: GateWait): Promise<void> {
    if (this.#queue.size >= this.#limits.waiting) {
      throw unsent(`more than ${this.#limits.waiting} requests of this client wait to be sent`);
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#queue.delete(start);
        clearTimeout(timer);
        signal?.removeEventListener('abort', cancel);
      };
      const start = (): void => {
        leave();
        resolve();
      };
      const cancel = (): void => {
        leave();
        reject(canceled());
      };
      const timer = setTimeout(() => {
        leave();
        reject(late());
      }, leftMs);
      signal?.addEventListener('abort', cancel);
      this.#queue.add(start);
    });
  }
}

function late(): ExchangeError {
  return unsent('the retry budget of the call ended before the request was sent');
}

function unsent(error: string): ExchangeError {
  return new ExchangeError(503, { error, code: overloadedCode });
}

function canceled(): ExchangeError {
  const error = 'a cancel or a missed session of this client came before the request was sent';
  return new ExchangeError(503, { error, code: canceledCode });
}
