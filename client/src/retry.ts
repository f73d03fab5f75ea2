import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ExchangeError, isPassing, provesNothingDone } from './errors.ts';

/** How patient the client is. Pauses double from the first to the longest, each shortened at random by up to a half. */
export interface RetryPolicy {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** From the first try on, no try begins later. 0: every request is sent once. */
  readonly totalMs: number;
}

/** Longer than any part of the exchange needs to come back, shorter than an order's timestamp stays acceptable. */
export const defaultRetryPolicy: RetryPolicy = {
  firstPauseMs: 100,
  longestPauseMs: 2_000,
  totalMs: 30_000,
};

export const noRetries: RetryPolicy = { firstPauseMs: 1, longestPauseMs: 1, totalMs: 0 };

/** What may be repeated: anything, or only requests that are known to have changed nothing. */
export type Repeatable = 'always' | 'when nothing was done';

/** Counts the tries of one request and waits between them. */
export class Patience {
  readonly #policy: RetryPolicy;
  readonly #startedAt = performance.now();
  #pauses = 0;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /** Waits for the next try, at least as long as the exchange asked for; false at once when that is beyond the limit. */
  async next(retryAfterSeconds: number | null): Promise<boolean> {
    const { firstPauseMs, longestPauseMs, totalMs } = this.#policy;
    const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#pauses, 20));
    // Who was told the same time does not come back at the same time.
    const jittered = randomInt(Math.ceil(most / 2), most + 1);
    const pauseMs = (retryAfterSeconds ?? 0) * 1000 + jittered;
    if (performance.now() - this.#startedAt + pauseMs > totalMs) return false;
    this.#pauses += 1;
    await sleep(pauseMs);
    return true;
  }
}

/** Tries until there is an answer that waiting does not change. Throws the last error when patience is over. */
export async function persist<T>(
  patience: Patience,
  repeatable: Repeatable,
  attempt: (tries: number) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!isPassing(error) || !mayRepeat(error, repeatable)) throw error;
      if (!(await patience.next(error.retryAfterSeconds))) throw error;
    }
  }
}

function mayRepeat(error: ExchangeError, repeatable: Repeatable): boolean {
  return repeatable === 'always' || provesNothingDone(error.code);
}
