import type { Health, Readiness, Serving } from '../health/index.ts';

/** The reason of a process that was asked to stop. */
const draining = 'draining';

/**
 * State of a process on its operations port, which opens before everything else and closes after it:
 *
 *   loading -- `report` --> as the service says -- `drain` --> draining
 *
 * In the first and the last state `/ready` and `/serving` are 503.
 */
export class Operations implements Health {
  readonly #loading = new Set<string>();
  #health: Health | null = null;
  #isDraining = false;

  /** Runs a part of the start, which `/ready` names until it is over: `loading:catalog`. */
  async during<T>(part: string, run: () => Promise<T>): Promise<T> {
    this.#loading.add(part);
    try {
      return await run();
    } finally {
      this.#loading.delete(part);
    }
  }

  /** From here on the service says how it is. */
  report(health: Health): void {
    this.#health = health;
  }

  /** From here on it is neither ready nor serving. */
  drain(): void {
    this.#isDraining = true;
  }

  status(): object {
    return this.#health?.status() ?? { loading: [...this.#loading] };
  }

  ready(): Readiness {
    if (this.#isDraining || this.#health === null)
      return { ready: false, reasons: this.#reasons() };
    return this.#health.ready();
  }

  serving(): Serving {
    if (this.#isDraining || this.#health === null)
      return { serving: false, reasons: this.#reasons() };
    return this.#health.serving();
  }

  #reasons(): readonly string[] {
    if (this.#isDraining) return [draining];
    return ['starting', ...[...this.#loading].map((part) => `loading:${part}`)];
  }
}
