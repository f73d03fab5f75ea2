import { type ExchangeError, isPassing, provesNothingDone } from './errors.ts';
import { randomBetween, sleep } from './platform.ts';

/** Retry budget and pauses. Pauses double from the first to the longest, each shortened at random by up to a half. */
export interface RetryPolicy {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Retry budget: no attempt starts later than this after the first. 0: every request is sent once. */
  readonly totalMs: number;
}

/** Longer than a restart of any part of the exchange, shorter than an order's timestamp is valid. */
export const defaultRetryPolicy: RetryPolicy = {
  firstPauseMs: 100,
  longestPauseMs: 2_000,
  totalMs: 30_000,
};

export const noRetries: RetryPolicy = { firstPauseMs: 1, longestPauseMs: 1, totalMs: 0 };

/** Which requests may be repeated: all, or only those that certainly changed nothing. */
export type Repeatable = 'always' | 'when nothing was done';

/** The retry budget of one request, with the pauses between attempts. */
export class RetryBudget {
  readonly #policy: RetryPolicy;
  readonly #startedAt = performance.now();
  #pauses = 0;

  constructor(policy: RetryPolicy) {
    this.#policy = policy;
  }

  /**
   * Waits before the next attempt, at least as long as the exchange requests; false at once when that exceeds the
   * budget.
   */
  async next(retryAfterSeconds: number | null): Promise<boolean> {
    const { firstPauseMs, longestPauseMs, totalMs } = this.#policy;
    const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#pauses, 20));
    // Clients with the same retry time do not return at the same moment.
    const jittered = randomBetween(Math.ceil(most / 2), most + 1);
    const pauseMs = (retryAfterSeconds ?? 0) * 1000 + jittered;
    if (performance.now() - this.#startedAt + pauseMs > totalMs) return false;
    this.#pauses += 1;
    await sleep(pauseMs);
    return true;
  }
}

/** Repeats attempts while they fail for transient reasons. Throws the last error when the retry budget ends. */
export async function persist<T>(
  retryBudget: RetryBudget,
  repeatable: Repeatable,
  attempt: (tries: number) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!isPassing(error) || !mayRepeat(error, repeatable)) throw error;
      if (!(await retryBudget.next(error.retryAfterSeconds))) throw error;
    }
  }
}

function mayRepeat(error: ExchangeError, repeatable: Repeatable): boolean {
  return repeatable === 'always' || provesNothingDone(error.code);
}
