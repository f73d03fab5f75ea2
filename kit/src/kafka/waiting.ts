/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** What `work` gives, or the error `late` makes when it takes longer than `ms`; the work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for an ending, at most `ms`; a failed or late one is left behind. */
export async function closeWithin(ending: Promise<unknown>, ms: number): Promise<void> {
  await within(ending, ms, () => new Error('late')).catch(() => {});
}

/** A wait that another part ends early. */
export class Wakeup {
  #wake: (() => void) | null = null;

  /** Resolves at the next `wake()` or after `ms`, whichever is first. */
  async wait(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      const before = this.#wake;
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
        before?.();
      };
    });
  }

  wake(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
