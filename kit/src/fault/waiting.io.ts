import { setTimeout as wait } from 'node:timers/promises';
import { reactionTo } from './fault.ts';

const firstRetryMs = 100;
const maxRetryMs = 5_000;

/** Time limit of the retries, and a callback for each failed attempt. */
export interface Insistence {
  readonly forMs: number;
  onRetry?(): void;
}

/**
 * Repeats `work` while it fails with a fault whose reaction is `retry`, until `forMs` is over; then throws the last
 * fault.
 */
export async function insist<T>(
  work: () => Promise<T>,
  { forMs, onRetry }: Insistence,
): Promise<T> {
  const deadlineMs = performance.now() + forMs;
  for (let waitMs = firstRetryMs; ; waitMs = Math.min(waitMs * 2, maxRetryMs)) {
    try {
      return await work();
    } catch (error) {
      if (reactionTo(error) !== 'retry' || performance.now() + waitMs > deadlineMs) throw error;
      onRetry?.();
      await wait(waitMs);
    }
  }
}

/** The result of `work`; throws the error made by `late` after `ms`, while the work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
