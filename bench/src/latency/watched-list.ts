import { setTimeout as sleep } from 'node:timers/promises';

interface Waiter<T> {
  isSeen(list: T): boolean;
  readonly untilMs: number;
  settle(seen: boolean): void;
}

/**
 * Reads a list again and again while somebody waits for something in it: one request after the other for all who wait,
 * so that a slow list is not read more often.
 */
export class WatchedList<T> {
  readonly #read: () => Promise<T | null>;
  readonly #pauseMs: number;
  readonly #waiting = new Set<Waiter<T>>();
  #isReading = false;

  /** `read` resolves with null where the list could not be read this time. */
  constructor(read: () => Promise<T | null>, pauseMs: number) {
    this.#read = read;
    this.#pauseMs = pauseMs;
  }

  /** Whether it was seen before `untilMs`, on the clock of `performance.now`. */
  waitFor(isSeen: (list: T) => boolean, untilMs: number): Promise<boolean> {
    return new Promise((settle) => {
      this.#waiting.add({ isSeen, untilMs, settle });
      if (!this.#isReading) void this.#readAll();
    });
  }

  async #readAll(): Promise<void> {
    this.#isReading = true;
    while (this.#waiting.size > 0) {
      const list = await this.#read();
      for (const waiter of this.#waiting) this.#judge(waiter, list);
      await sleep(this.#pauseMs);
    }
    this.#isReading = false;
  }

  #judge(waiter: Waiter<T>, list: T | null): void {
    const isSeen = list !== null && waiter.isSeen(list);
    if (!isSeen && performance.now() < waiter.untilMs) return;
    this.#waiting.delete(waiter);
    waiter.settle(isSeen);
  }
}
