import { Fault } from '../fault/index.ts';

export interface TurnsOptions {
  /** How many may have a turn at once. */
  readonly count: number;
  /** How many may wait for one. */
  readonly waitingMax: number;
  /** How long one may wait, milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly untilMs: number;
  readonly go: () => void;
  readonly refuse: (fault: Fault) => void;
}

/**
 * Turns at something there is little of, in the order asked. Who would wait too long is told so: a server that is silent must not
 * make everybody else wait for all who came before.
 */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** Runs `work` in a turn. Rejects with `clickhouse_busy` (retry) when none comes in time, and at once when too many wait. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#options.count) this.#taken += 1;
    else await this.#wait();
    try {
      return await work();
    } finally {
      this.#passOn();
    }
  }

  #wait(): Promise<void> {
    const { waitingMax, waitMs } = this.#options;
    if (this.#waiting.length >= waitingMax) return Promise.reject(busy());
    return new Promise((go, refuse) => {
      this.#waiting.push({ untilMs: performance.now() + waitMs, go, refuse });
      this.#timer ??= setTimeout(() => this.#expire(), waitMs);
    });
  }

  /** The turn goes to who waits longest. */
  #passOn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next.go();
    if (this.#waiting.length > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** All wait equally long, so whose time is up stands in front. */
  #expire(): void {
    const nowMs = performance.now();
    while ((this.#waiting[0]?.untilMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
      this.#waiting.shift()?.refuse(busy());
    }
    const [first] = this.#waiting;
    this.#timer =
      first === undefined
        ? undefined
        : setTimeout(() => this.#expire(), Math.ceil(first.untilMs - nowMs));
  }
}

function busy(): Fault {
  return new Fault('clickhouse_busy', 'retry');
}
