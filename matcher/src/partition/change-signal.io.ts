/** Lets several waiters know that something has changed; nothing is kept of a wait that has ended. */
export class ChangeSignal {
  readonly #waiting = new Set<() => void>();

  /** Resolves at the next `give`. */
  next(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  give(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
