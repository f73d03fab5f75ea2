/**
 * Watches progress, not liveness: kafkajs' consumers can stop silently while the process is up (traps.md). An empty
 * fetch is progress, so a quiet topic raises no alarm. Pure: time is an argument, milliseconds of one monotonic clock.
 */
export class Watchdog {
  readonly #stallMs: number;
  readonly #now: () => number;
  readonly #last = new Map<string, number>();
  readonly #reported = new Set<string>();
  #lastCheckMs: number;

  constructor(stallMs: number, now: () => number) {
    this.#stallMs = stallMs;
    this.#now = now;
    this.#lastCheckMs = now();
  }

  /** The reader named `key` made progress. */
  progress(key: string): void {
    this.#last.set(key, this.#now());
    this.#reported.delete(key);
  }

  /** The reader named `key` was closed. */
  forget(key: string): void {
    this.#last.delete(key);
    this.#reported.delete(key);
  }

  /** The newly stalled keys with their silence. A process that was suspended (a late check) gets one more period. */
  newlyStalled(): readonly { key: string; silentMs: number }[] {
    const now = this.#now();
    const slept = now - this.#lastCheckMs > this.#stallMs / 2;
    this.#lastCheckMs = now;
    if (slept) return [];
    const stalled = [...this.#last]
      .map(([key, last]) => ({ key, silentMs: Math.round(now - last) }))
      .filter(({ key, silentMs }) => silentMs > this.#stallMs && !this.#reported.has(key));
    for (const { key } of stalled) this.#reported.add(key);
    return stalled;
  }
}

/** Checks per stall time. */
export const watchdogChecks = 8;
