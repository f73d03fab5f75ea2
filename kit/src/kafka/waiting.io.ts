import { within } from '../fault/index.ts';

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits for the end of a task, at most `ms`; ignores one that fails or is late. */
export async function closeWithin(ending: Promise<unknown>, ms: number): Promise<void> {
  await within(ending, ms, () => new Error('late')).catch(() => {});
}

/** A wait that another part can end early. */
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
