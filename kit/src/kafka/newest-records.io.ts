import type { LogAdmin } from './admin.io.ts';
import type { LogReader } from './reader.io.ts';
import { closeWithin, pause } from './waiting.io.ts';

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
  #current: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;

  /** `followed` may grow until the first call. */
  constructor(admin: Pick<LogAdmin, 'bounds'>, followed: readonly FollowedTopic[]) {
    this.#admin = admin;
    this.#followed = followed;
  }

  /** Resolves when everything that was in the topics at the call has been taken, or after `settleMaxMs`. */
  settle(): Promise<void> {
    this.#next ??= this.#begin();
    return this.#next;
  }

  async #begin(): Promise<void> {
    await this.#current;
    this.#next = null;
    const settling = closeWithin(this.#settle(), settleMaxMs);
    this.#current = settling.then(() => pause(restMs));
    await settling;
  }

  async #settle(): Promise<void> {
    // A topic whose end is not known keeps nobody from the newest records of the others.
    await Promise.allSettled(this.#followed.map((one) => this.#reach(one)));
  }

  async #reach({ topic, reader }: FollowedTopic): Promise<void> {
    const givesUpMs = performance.now() + settleMaxMs;
    for (const [partition, { high }] of await this.#admin.bounds(topic))
      while (reader.position(partition) < high && performance.now() < givesUpMs) {
        reader.hurry();
        await pause(pollMs);
      }
  }
}
