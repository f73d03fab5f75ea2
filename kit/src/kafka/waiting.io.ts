import { within } from '../fault/index.ts';

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for the end of a task, at most `ms`; ignores one that fails or is late. */
export async function closeWithin(ending: Promise<unknown>, ms: number): Promise<void> {
  await within(ending, ms, () => new Error('late')).catch(() => {});
}

/**
 * The result of the first task that has one. Tasks start one after the other: the next when the last one failed, or
 * when there is no result after `waitMs`. Rejects with the last failure when all failed, and at once with one that is
 * an answer.
 */
export function firstAnswer<T>(
  tasks: readonly (() => Promise<T>)[],
  waitMs: number,
  isAnswer: (error: unknown) => boolean,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let [started, failed, isOver] = [0, 0, false];
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void): void => {
      isOver = true;
      clearTimeout(timer);
      settle();
    };
    const startNext = (): void => {
      const task = tasks[started];
      if (isOver || task === undefined) return;
      started += 1;
      clearTimeout(timer);
      timer = setTimeout(startNext, waitMs);
      task().then(
        (answer) => end(() => resolve(answer)),
        (error: unknown) => {
          failed += 1;
          if (isAnswer(error) || failed === tasks.length) end(() => reject(error));
          else startNext();
        },
      );
    };
    startNext();
  });
}

/** Waits that another part can end early. Nothing is kept of a wait that has ended. */
export class Wakeup {
  readonly #ends = new Set<() => void>();

  /** Resolves with true at the next `wake()` or with false after `ms`, whichever is first. */
  wait(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isWoken: boolean) => {
        clearTimeout(timer);
        this.#ends.delete(wake);
        resolve(isWoken);
      };
      const wake = () => end(true);
      const timer = setTimeout(end, ms, false);
      this.#ends.add(wake);
    });
  }

  /** Ends all running waits. */
  wake(): void {
    for (const wake of this.#ends) wake();
  }

  /** Running waits. */
  get size(): number {
    return this.#ends.size;
  }
}

/** Runs so many tasks at the same time; the others wait in the order of their calls. Callers bound how many wait. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Settles as the task does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((go) => this.#waiting.push(go));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
