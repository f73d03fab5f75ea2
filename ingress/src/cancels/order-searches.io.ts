import type { OrderId } from '@pm/schemas';
import { type Waiter, type WaitingLimits, WaitingShares } from '../log/waiting-shares.ts';
import { FairQueue } from '../orders/fair-queue.ts';

/** Bounds of searches, in commands: an id costs one for each partition. */
export interface SearchLimits {
  /** On their way at once; each counts for `holdMs` at least, so the quotient is their largest rate. */
  readonly atOnce: number;
  readonly holdMs: number;
  /** Of one request that go together; at least one id. */
  readonly perWave: number;
  /** A request whose search takes longer is done with what it has found; the gateway waits for 30 seconds. */
  readonly withinMs: number;
  /** Of requests that wait or are searching. */
  readonly waiting: WaitingLimits;
}

/** Before the last ids of a request are asked for, milliseconds. */
const withinMs = 20_000;

/** A request counts for at most what a wallet may have, so that any request can be carried out. */
const waiting = { total: 20_000, reserve: 0, perWallet: 800 } as const;

/**
 * 250 ids a second, however many partitions there are. An address has as many searches as it may have other commands.
 */
function fundedLimits(partitions: number): SearchLimits {
  const atOnce = 25 * partitions;
  return { atOnce, holdMs: 100, perWave: 100, withinMs, waiting: { ...waiting, perClient: 4_000 } };
}

/**
 * 25 ids a second, and all of a second go together: each wave is a record in every partition. A wallet without money
 * can have an order only if it holds tokens, so such wallets share few. What waits of an address takes eight seconds.
 */
function unfundedLimits(partitions: number): SearchLimits {
  const atOnce = 25 * partitions;
  return {
    atOnce,
    holdMs: 1_000,
    perWave: atOnce,
    withinMs,
    waiting: { ...waiting, perClient: 1_600 },
  };
}

/** The searches of callers with money, and of those without, which delay no other. */
export function openSearches(
  partitions: number,
): Readonly<Record<'funded' | 'unfunded', Searches>> {
  return {
    funded: new OrderSearches(partitions, fundedLimits(partitions)),
    unfunded: new OrderSearches(partitions, unfundedLimits(partitions)),
  };
}

export type Searches = Pick<OrderSearches, 'run'>;

interface Wave {
  /** None once its time has passed. */
  commands: number;
  start(): void;
}

/**
 * Searches for orders whose partition is not known: every partition is asked for each id, which makes them the most
 * expensive requests of a caller. They go in waves at a bounded rate, and callers are served in rotation, so that a
 * flood of unknown ids delays other searches by a wave and leaves the log to orders and other cancels.
 */
export class OrderSearches {
  readonly #partitions: number;
  readonly #limits: SearchLimits;
  readonly #shares: WaitingShares;
  readonly #waiting = new FairQueue<Wave>();
  #next: Wave | undefined;
  #free: number;

  constructor(partitions: number, limits: SearchLimits) {
    this.#partitions = partitions;
    this.#limits = limits;
    this.#shares = new WaitingShares(limits.waiting);
    this.#free = limits.atOnce;
  }

  /**
   * Asks for each id when it is its turn; null, at once, when the part of the caller is full. The results of the first
   * ids only, where there is no time for all.
   */
  async run<T>(
    caller: Waiter,
    ids: readonly OrderId[],
    ask: (id: OrderId) => Promise<T>,
  ): Promise<readonly T[] | null> {
    const { waiting, perWave, withinMs } = this.#limits;
    const untilMs = performance.now() + withinMs;
    const places = Math.min(ids.length * this.#partitions, waiting.perWallet);
    if (!this.#shares.take(caller, true, places)) return null;
    const perTurn = Math.max(1, Math.floor(perWave / this.#partitions));
    const found: T[] = [];
    try {
      for (let from = 0; from < ids.length; from += perTurn) {
        const wave = ids.slice(from, from + perTurn);
        const asks = wave.map((id) => () => ask(id));
        if (!(await this.#isTurn(caller, asks.length, untilMs))) break;
        found.push(...(await this.#runWave(asks)));
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
      const wave: Wave = { commands: this.#commandsOf(ids), start };
      const giveUp = () => {
        wave.commands = 0;
        resolve(false);
      };
      const timer = setTimeout(giveUp, untilMs - performance.now()).unref();
      this.#waiting.push(caller, wave);
      this.#pump();
    });
  }

  #commandsOf(ids: number): number {
    return Math.min(ids * this.#partitions, this.#limits.atOnce);
  }

  async #runWave<T>(asks: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
    const { holdMs } = this.#limits;
    const commands = this.#commandsOf(asks.length);
    const held = new Promise<void>((resolve) => void setTimeout(resolve, holdMs).unref());
    const asked = Promise.all(asks.map((ask) => ask()));
    void Promise.allSettled([held, asked]).then(() => {
      this.#free += commands;
      this.#pump();
    });
    return await asked;
  }

  /** Starts waves in the order of the queue while they fit. */
  #pump(): void {
    for (;;) {
      this.#next ??= this.#waiting.shift();
      if (this.#next === undefined || this.#next.commands > this.#free) return;
      this.#free -= this.#next.commands;
      this.#next.start();
      this.#next = undefined;
    }
  }
}
