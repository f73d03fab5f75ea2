import { setTimeout as wait } from 'node:timers/promises';

/**
 * What a process does about a fault (hacking.md):
 * `retry`   the same step again, bounded;
 * `skip`    count it, dead-letter it, go on;
 * `release` give the partition back and let an owner restore it;
 * `stop`    end the process: going on could write something wrong.
 */
export type FaultReaction = 'retry' | 'skip' | 'release' | 'stop';

/** An error whose reaction is part of its value. Facts are ids and numbers only, never orders or keys. */
export class Fault extends Error {
  readonly code: string;
  readonly reaction: FaultReaction;
  readonly facts: Readonly<Record<string, string | number | boolean>>;

  constructor(
    code: string,
    reaction: FaultReaction,
    options: { facts?: Record<string, string | number | boolean>; cause?: unknown } = {},
  ) {
    super(
      describe(code, options.facts),
      options.cause === undefined ? {} : { cause: options.cause },
    );
    this.name = 'Fault';
    this.code = code;
    this.reaction = reaction;
    this.facts = options.facts ?? {};
  }
}

/** The reaction to any thrown value; what is not a `Fault` was not foreseen, so it stops the process. */
export function reactionTo(error: unknown): FaultReaction {
  return error instanceof Fault ? error.reaction : 'stop';
}

function describe(code: string, facts: Record<string, string | number | boolean> = {}): string {
  const pairs = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  return pairs.length === 0 ? code : `${code} (${pairs.join(', ')})`;
}

const firstRetryMs = 100;
const maxRetryMs = 5_000;

/** How long something is insisted on, and who hears of each try that failed. */
export interface Insistence {
  readonly forMs: number;
  onRetry?(): void;
}

/** Does it again while it fails with a fault whose reaction is `retry`, until time is up; then throws the last fault. */
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

/** What `work` gives, or the error `late` makes when it takes longer than `ms`; the work itself goes on. */
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
