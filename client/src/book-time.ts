import { firstSentHeader, timeToBookHeader, validUntilHeader } from '@pm/schemas/signing';
import type { Connection } from './connection.ts';

/**
 * The time that orders have to reach their books, over all attempts. An attempt that arrives has what is left of it.
 * One that is long on its way is bounded by the latest time at which it can be over at the exchange, which all attempts
 * name: it holds however late an attempt arrives, and refuses none too early where the clocks differ. All attempts name
 * the time of the first one, too: a cancel that comes meanwhile, also from another process, covers them.
 */
export class BookTime {
  readonly #connection: Pick<Connection, 'latestServerMs'>;
  readonly #timeToBookMs: number;
  /** When the first attempt was made, on the monotonic clock and, if that is known, at the exchange. */
  #first: { readonly madeMs: number; readonly serverMs: number | null } | null = null;

  constructor(connection: Pick<Connection, 'latestServerMs'>, timeToBookMs: number) {
    this.#connection = connection;
    this.#timeToBookMs = timeToBookMs;
  }

  /** The headers of an attempt that is made now; the time to book begins with the first attempt. */
  headers(): Record<string, string> {
    const madeMs = performance.now();
    this.#first ??= { madeMs, serverMs: this.#connection.latestServerMs() };
    const { serverMs } = this.#first;
    // An attempt after the end of the time is refused, or gets the result of an earlier attempt.
    const leftMs = Math.max(1, this.#timeToBookMs - Math.floor(madeMs - this.#first.madeMs));
    const left = { [timeToBookHeader]: String(leftMs) };
    if (serverMs === null) return left;
    const validUntil = String(serverMs + this.#timeToBookMs);
    return { ...left, [validUntilHeader]: validUntil, [firstSentHeader]: String(serverMs) };
  }
}
