import { Fault } from '../fault/index.ts';

export interface SemaphoreOptions {
  /** Tasks that run at once. */
  readonly count: number;
  /** Tasks that may wait. */
  readonly waitingMax: number;
  /** Longest wait of a task, milliseconds. */
  readonly waitMs: number;
}

interface Waiting {
  readonly untilMs: number;
  readonly go: () => void;
  readonly refuse: (fault: Fault) => void;
}

/**
 * Limits how many tasks run at once; the others wait in the order of their calls. A task that waits too long is
 * refused: a silent server must not make each new request wait for all earlier ones.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SemaphoreOptions) {
    this.#options = options;
  }

  /**
   * Runs `work` when there is room. Rejects with `clickhouse_busy` (retry) after `waitMs`, and at once when too many
   * wait.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#options.count) this.#running += 1;
    else await this.#wait();
    try {
      return await work();
    } finally {
      this.#startNext();
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

  /** The longest waiting task runs next. */
  #startNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next.go();
    if (this.#waiting.length > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** All tasks have the same time limit, so the overdue ones are first. */
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
