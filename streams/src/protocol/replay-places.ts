import { streamLimits } from '@pm/schemas/streams/limits';

/** Who replays: one connection of an address. */
export interface Replayer {
  readonly address: string;
}

interface Waiting {
  readonly who: Replayer;
  readonly start: () => void;
}

/** Replays of all connections that are sent at once: each holds a page of messages in memory. */
const replaysMax = 64;

/**
 * The places of replays: so many of a connection, of an address and of the process at once. Others wait, the oldest
 * first; a full address does not hold up others.
 */
export class ReplayPlaces {
  readonly #taken = new Map<Replayer | string, number>();
  readonly #waiting = new Set<Waiting>();
  readonly #max: number;
  #count = 0;

  constructor(max: number = replaysMax) {
    this.#max = max;
  }

  get taken(): number {
    return this.#count;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Calls `start` once there is a place, maybe at once. Returns what gives the place back, or ends the wait. */
  take(who: Replayer, start: (leave: () => void) => void): () => void {
    let isOver = false;
    const leave = () => {
      if (isOver) return;
      isOver = true;
      if (this.#waiting.delete(entry)) return;
      this.#add(who, -1);
      this.#startWaiting();
    };
    const entry: Waiting = { who, start: () => start(leave) };
    this.#waiting.add(entry);
    this.#startWaiting();
    return leave;
  }

  #startWaiting(): void {
    for (const entry of this.#waiting) {
      if (this.#count >= this.#max) return;
      if (!this.#isFree(entry.who)) continue;
      this.#waiting.delete(entry);
      this.#add(entry.who, 1);
      entry.start();
    }
  }

  #isFree(who: Replayer): boolean {
    const { resumes_per_connection: ofConnection, resumes_per_address: ofAddress } = streamLimits;
    return this.#of(who) < ofConnection && this.#of(who.address) < ofAddress;
  }

  #of(key: Replayer | string): number {
    return this.#taken.get(key) ?? 0;
  }

  #add(who: Replayer, change: 1 | -1): void {
    this.#count += change;
    for (const key of [who, who.address]) {
      const count = this.#of(key) + change;
      if (count === 0) this.#taken.delete(key);
      else this.#taken.set(key, count);
    }
  }
}
