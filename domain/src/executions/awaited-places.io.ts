import { setTimeout as wait } from 'node:timers/promises';
import { hasReached, type LogPlaces } from '@pm/kit/http';

export interface AwaitedPlacesOptions {
  /**
   * How far a projection of `executions` is in these partitions: the offset of each below which everything is in it.
   * Rejects when that cannot be found out now.
   */
  look(partitions: readonly number[]): LogPlaces | Promise<LogPlaces>;
  /** Longest wait of one caller, milliseconds. */
  readonly waitMs: number;
  /** Pause between two looks, milliseconds. */
  readonly pollMs: number;
}

/** Callers that wait at once; more are answered at once by what is known. */
const waitingMax = 4_000;

interface Waiting {
  readonly places: LogPlaces;
  settle(isReached: boolean): void;
}

/**
 * Callers that wait until a projection of `executions` has come to their places. They share the looks, and nothing is
 * looked at while no caller waits. What a caller was shown as reached counts for the next ones without a look.
 */
export class AwaitedPlaces {
  readonly #options: AwaitedPlacesOptions;
  readonly #known = new Map<number, number>();
  readonly #waiting = new Set<Waiting>();
  #isLooking = false;

  constructor(options: AwaitedPlacesOptions) {
    this.#options = options;
  }

  /** Whether the projection is known to have come there. */
  isReached(places: LogPlaces): boolean {
    return hasReached(this.#known, places);
  }

  /** True as soon as the projection has come there; false when it has not after `waitMs`. Never rejects. */
  reach(places: LogPlaces): Promise<boolean> {
    const isReached = this.isReached(places);
    if (isReached || this.#waiting.size >= waitingMax) return Promise.resolve(isReached);
    return new Promise((resolve) => {
      const settle = (result: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(waiting);
        resolve(result);
      };
      const timer = setTimeout(settle, this.#options.waitMs, false);
      const waiting: Waiting = { places, settle };
      this.#waiting.add(waiting);
      if (!this.#isLooking) void this.#lookOn();
    });
  }

  async #lookOn(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.size > 0) {
      await this.#look();
      if (this.#waiting.size > 0) await wait(this.#options.pollMs);
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const wanted = new Set<number>();
    for (const { places } of this.#waiting)
      for (const partition of places.keys()) wanted.add(partition);
    try {
      const found = await this.#options.look([...wanted]);
      // A projection that was lost begins again below what was known.
      for (const [partition, offset] of found) this.#known.set(partition, offset);
    } catch {
      // Each caller waits for as long as it may; what follows says whether the store is away.
      return;
    }
    for (const waiting of this.#waiting) if (this.isReached(waiting.places)) waiting.settle(true);
  }
}
