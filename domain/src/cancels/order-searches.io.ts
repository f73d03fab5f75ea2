import type { OrderId } from '@pm/schemas/ids';
import { type Waiter, type WaitingLimits, WaitingShares } from '../commands/waiting-shares.ts';
import { FairQueue } from '../orders/fair-queue.ts';

/** Bounds of searches, in ids: each is looked up in every partition, and fenced where it is not known. */
export interface SearchLimits {
  /** On their way at once; each counts for `holdMs` at least, so the quotient is their largest rate. */
  readonly atOnce: number;
  readonly holdMs: number;
  /** Ids of one request that go together. */
  readonly perWave: number;
  /** A request whose search takes longer is done with what it has found; the gateway waits for 30 seconds. */
  readonly withinMs: number;
  /** Bounds of the ids of requests that wait or are searching. */
  readonly waiting: WaitingLimits;
}

/** Before the last ids of a request are asked for, milliseconds. */
const withinMs = 20_000;

/** Two of the largest requests of a wallet. */
const waiting = { total: 100_000, reserve: 0, perWallet: 6_000 } as const;

/**
 * 5,000 ids a second, 160 KB in each partition: those of four seconds, twice as long as a partition fences an id, are a
 * fifth of what it may fence (`fencedIdsMax`).
 */
const funded: SearchLimits = {
  atOnce: 1_000,
  holdMs: 200,
  perWave: 500,
  withinMs,
  waiting: { ...waiting, perClient: 24_000 },
};

/**
 * 1,000 ids a second, and all of a second go together: each wave is a record in every partition. A wallet without money
 * can have an order only if it holds tokens, so such wallets share few. What waits of an address takes six seconds.
 */
const unfunded: SearchLimits = {
  atOnce: 1_000,
  holdMs: 1_000,
  perWave: 1_000,
  withinMs,
  waiting: { ...waiting, perClient: 6_000 },
};

/** The searches of callers with money, and of those without, which delay no other. */
export function openSearches(): Readonly<Record<'funded' | 'unfunded', Searches>> {
  return { funded: new OrderSearches(funded), unfunded: new OrderSearches(unfunded) };
}

export type Searches = Pick<OrderSearches, 'run'>;

interface Wave {
  /** None once its time has passed. */
  ids: number;
  start(): void;
}

/**
 * Searches for orders whose partition is not known: every partition is asked for each id, which makes them the most
 * expensive cancels of a caller. They go in waves at a bounded rate, and callers are served in rotation, so that a
 * flood of unknown ids delays other searches by a wave and leaves the log to orders and other cancels.
 */
export class OrderSearches {
  readonly #limits: SearchLimits;
  readonly #shares: WaitingShares;
  readonly #waiting = new FairQueue<Wave>();
  #next: Wave | undefined;
  #free: number;

  constructor(limits: SearchLimits) {
    this.#limits = limits;
    this.#shares = new WaitingShares(limits.waiting);
    this.#free = limits.atOnce;
  }

  /**
   * Asks for the ids of each wave when it is its turn; null, at once, when the part of the caller is full. The results
   * of the first ids only, where there is no time for all.
   */
  async run<T>(
    caller: Waiter,
    ids: readonly OrderId[],
    ask: (wave: readonly OrderId[]) => Promise<readonly T[]>,
  ): Promise<readonly T[] | null> {
    const { waiting, perWave, withinMs } = this.#limits;
    const untilMs = performance.now() + withinMs;
    const places = Math.min(ids.length, waiting.perWallet);
    if (!this.#shares.take(caller, true, places)) return null;
    const found: T[] = [];
    try {
      for (let from = 0; from < ids.length; from += perWave) {
        const wave = ids.slice(from, from + perWave);
        if (!(await this.#isTurn(caller, wave.length, untilMs))) break;
        found.push(...(await this.#runWave(wave.length, ask(wave))));
      }
    } finally {
      this.#shares.leave(caller, places);
    }
    return found;
  }

  /** Resolves when a wave of so many ids may start; false when that takes too long. */
  #isTurn(caller: Waiter, ids: number, untilMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const start = () => {
        clearTimeout(timer);
        resolve(true);
      };
      const wave: Wave = { ids, start };
      const giveUp = () => {
        wave.ids = 0;
        resolve(false);
      };
      const timer = setTimeout(giveUp, untilMs - performance.now()).unref();
      this.#waiting.push(caller, wave);
      this.#pump();
    });
  }

  async #runWave<T>(ids: number, asked: Promise<readonly T[]>): Promise<readonly T[]> {
    const held = new Promise<void>((resolve) => {
      setTimeout(resolve, this.#limits.holdMs).unref();
    });
    void Promise.allSettled([held, asked]).then(() => {
      this.#free += ids;
      this.#pump();
    });
    return await asked;
  }

  /** Starts waves in the order of the queue while they fit. */
  #pump(): void {
    for (;;) {
      this.#next ??= this.#waiting.shift();
      if (this.#next === undefined || this.#next.ids > this.#free) return;
      this.#free -= this.#next.ids;
      this.#next.start();
      this.#next = undefined;
    }
  }
}
