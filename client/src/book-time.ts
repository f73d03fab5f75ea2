import { timeToBookHeader, validUntilHeader } from '@pm/schemas';
import type { Connection } from './connection.ts';

/**
 * The time that orders have to reach their books, over all attempts. An attempt that arrives has what is left of it.
 * One that is long on its way is bounded by the latest time at which it can be over at the exchange, which all attempts
 * name: it holds however late an attempt arrives, and refuses none too early where the clocks differ.
 */
export class BookTime {
  readonly #connection: Pick<Connection, 'latestServerMs'>;
  readonly #timeToBookMs: number;
  #first: { readonly madeMs: number; readonly validUntilMs: number | null } | null = null;

  constructor(connection: Pick<Connection, 'latestServerMs'>, timeToBookMs: number) {
    this.#connection = connection;
    this.#timeToBookMs = timeToBookMs;
  }

  /** The headers of an attempt that is made now; the time to book begins with the first attempt. */
  headers(): Record<string, string> {
    const madeMs = performance.now();
    this.#first ??= { madeMs, validUntilMs: this.#validUntilMs() };
    const { validUntilMs } = this.#first;
    // What is over is refused, or gets the result of an earlier attempt.
    const leftMs = Math.max(1, this.#timeToBookMs - Math.floor(madeMs - this.#first.madeMs));
    return {
      [timeToBookHeader]: String(leftMs),
      ...(validUntilMs === null ? {} : { [validUntilHeader]: String(validUntilMs) }),
    };
  }

  #validUntilMs(): number | null {
    const latestMs = this.#connection.latestServerMs();
    return latestMs === null ? null : latestMs + this.#timeToBookMs;
  }
}
