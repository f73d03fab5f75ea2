import { within } from '../fault/index.ts';
import type { LogAdmin } from './admin.io.ts';
import type { LogReader } from './reader.io.ts';
import { pause } from './waiting.io.ts';

/** A topic that this process follows. */
export interface FollowedTopic {
  /** Name on the broker. */
  readonly topic: string;
  readonly reader: Pick<LogReader, 'position' | 'hurry'>;
}

/** A caller waits so long for the newest records at most, milliseconds; then it goes on without them. */
const settleMaxMs = 1_000;
/** How often positions are looked at, milliseconds. */
const pollMs = 2;
/** Pause between two looks at the ends of the topics, milliseconds: callers may be many, with invented keys. */
const restMs = 20;

/**
 * Waits for what is in followed topics now: another process may have written it a moment ago, and a reader gets it some
 * milliseconds later. Callers at the same time share a look at the log, which is never older than their calls.
 */
export class NewestRecords {
  readonly #admin: Pick<LogAdmin, 'bounds'>;
  readonly #followed: readonly FollowedTopic[];
  #current: Promise<unknown> = Promise.resolve();
  #next: Promise<boolean> | null = null;

  /** `followed` may grow until the first call. */
  constructor(admin: Pick<LogAdmin, 'bounds'>, followed: readonly FollowedTopic[]) {
    this.#admin = admin;
    this.#followed = followed;
  }

  /**
   * Resolves to true when everything that was in the topics at the call has been taken, and to false after
   * `settleMaxMs` or where that cannot be found out. Never rejects.
   */
  settle(): Promise<boolean> {
    this.#next ??= this.#begin();
    return inTime(this.#next);
  }

  async #begin(): Promise<boolean> {
    await this.#current;
    this.#next = null;
    const settling = inTime(this.#settle());
    this.#current = settling.then(() => pause(restMs));
    return await settling;
  }

  async #settle(): Promise<boolean> {
    // A topic whose end is not known holds up none of the others.
    const reached = this.#followed.map((one) => this.#reach(one).catch(() => false));
    return (await Promise.all(reached)).every((isReached) => isReached);
  }

  async #reach({ topic, reader }: FollowedTopic): Promise<boolean> {
    const givesUpMs = performance.now() + settleMaxMs;
    for (const [partition, { high }] of await this.#admin.bounds(topic))
      while (reader.position(partition) < high) {
        if (performance.now() >= givesUpMs) return false;
        reader.hurry();
        await pause(pollMs);
      }
    return true;
  }
}

/** The result of a task; false after `settleMaxMs`. */
function inTime(task: Promise<boolean>): Promise<boolean> {
  return within(task, settleMaxMs, () => new Error('late')).catch(() => false);
}
