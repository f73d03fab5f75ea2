import { ExchangeError, provesNothingDone } from './errors.ts';
import { randomBetween, sleep } from './platform.ts';

/** Retry budget and pauses. Pauses double from the first to the longest, each shortened at random by up to a half. */
export interface RetryPolicy {
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /**
   * Retry budget: no attempt of a call starts later than this after the call, whatever it waits for. 0: every request
   * is sent once.
   */
  readonly totalMs: number;
}

/** Longer than a restart of any part of the exchange, shorter than an order's timestamp is valid. */
export const defaultRetryPolicy: RetryPolicy = {
  firstPauseMs: 100,
  longestPauseMs: 2_000,
  totalMs: 30_000,
};

export const noRetries: RetryPolicy = { firstPauseMs: 1, longestPauseMs: 1, totalMs: 0 };

/** Which requests may be repeated: all, none, or only those that certainly changed nothing. */
export type Repeatable = 'always' | 'when nothing was done' | 'never';

/** The retry budget of one call, by the monotonic clock, with the pauses between attempts. */
export class RetryBudget {
  readonly #policy: RetryPolicy;
  readonly #startedAt = performance.now();
  readonly #onceMs: number;
  #pauses = 0;

  /** `onceMs`: with a budget of 0, how long the only attempt may wait for its turn. */
  constructor(policy: RetryPolicy, onceMs = 0) {
    this.#policy = policy;
    this.#onceMs = onceMs;
  }

  /** Time in which an attempt may still start. */
  get leftMs(): number {
    const totalMs = this.#policy.totalMs === 0 ? this.#onceMs : this.#policy.totalMs;
    return Math.max(0, this.#startedAt + totalMs - performance.now());
  }

  /**
   * Waits before the next attempt, at least as long as the exchange requests; false at once when that exceeds the
   * budget, and after a pause that lasted longer than it. The pause ends early when `signal` aborts. `keepsReserve`: an
   * eighth of the budget is left, for a question after the last attempt.
   */
  async next(
    retryAfterSeconds: number | null,
    { signal, keepsReserve = false }: { signal?: AbortSignal; keepsReserve?: boolean } = {},
  ): Promise<boolean> {
    const { firstPauseMs, longestPauseMs, totalMs } = this.#policy;
    const most = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(this.#pauses, 20));
    // Clients with the same retry time do not return at the same moment.
    const jittered = randomBetween(Math.ceil(most / 2), most + 1);
    const pauseMs = (retryAfterSeconds ?? 0) * 1000 + jittered;
    const reserveMs = keepsReserve ? totalMs / 8 : 0;
    if (performance.now() - this.#startedAt + pauseMs > totalMs - reserveMs) return false;
    this.#pauses += 1;
    await sleep(pauseMs, signal);
    return this.leftMs > 0;
  }
}

/**
 * Repeats attempts while their errors say that another may follow. Throws the last error when the retry budget ends.
 */
export async function persist<T>(
  retryBudget: RetryBudget,
  mayRepeat: (error: ExchangeError) => boolean,
  attempt: (tries: number) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(tries);
    } catch (error) {
      if (!(error instanceof ExchangeError) || !mayRepeat(error)) throw error;
      if (!(await retryBudget.next(error.retryAfterSeconds))) throw error;
    }
  }
}

export function isRepeatable(error: ExchangeError, repeatable: Repeatable): boolean {
  if (repeatable === 'never') return false;
  return repeatable === 'always' || provesNothingDone(error.code);
}
