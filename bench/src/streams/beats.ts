/** Heartbeats of many connections: for each the longest time without one, milliseconds. */
export class Beats {
  readonly #lastMs: Float64Array;
  readonly #longestMs: Float64Array;

  /** Every connection counts from `nowMs` on. */
  constructor(connections: number, nowMs: number) {
    this.#lastMs = new Float64Array(connections).fill(nowMs);
    this.#longestMs = new Float64Array(connections);
  }

  beat(connection: number, nowMs: number): void {
    const gapMs = nowMs - (this.#lastMs[connection] ?? nowMs);
    this.#longestMs[connection] = Math.max(this.#longestMs[connection] ?? 0, gapMs);
    this.#lastMs[connection] = nowMs;
  }

  /** With the time that ends at `nowMs`, so that a connection without any heartbeat is not overlooked. */
  longestGaps(nowMs: number): number[] {
    return Array.from(this.#lastMs, (lastMs, connection) =>
      Math.max(this.#longestMs[connection] ?? 0, nowMs - lastMs),
    );
  }
}
