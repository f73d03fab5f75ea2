/**
 * How far the clock of the exchange is ahead of the one here, by the `Date` of its responses: each says the second in
 * which a moment between its request and its arrival was, so a few of them say it to some milliseconds.
 */
export class ServerClock {
  /** Bounds of the time there minus the monotonic time here, milliseconds. */
  #leastMs = Number.NEGATIVE_INFINITY;
  #mostMs = Number.POSITIVE_INFINITY;

  /** A response with this `Date`, of a request that was sent and answered then by the monotonic clock. */
  note(date: string | null, { sentMs, receivedMs }: { sentMs: number; receivedMs: number }): void {
    const secondMs = Date.parse(date ?? '');
    if (Number.isNaN(secondMs)) return;
    const [leastMs, mostMs] = [secondMs - receivedMs, secondMs + secondLengthMs - sentMs];
    const isKnown = leastMs <= this.#mostMs && mostMs >= this.#leastMs;
    // A clock that was set says nothing of before.
    this.#leastMs = isKnown ? Math.max(this.#leastMs, leastMs) : leastMs;
    this.#mostMs = isKnown ? Math.min(this.#mostMs, mostMs) : mostMs;
  }

  /**
   * The time that it may be there at a moment of the monotonic clock and that is nearest to `nowMs`, Unix milliseconds:
   * `nowMs` itself as long as no response contradicts it.
   */
  nearestMs(nowMs: number, monotonicMs: number): number {
    return Math.min(Math.max(nowMs, monotonicMs + this.#leastMs), monotonicMs + this.#mostMs);
  }

  /** The latest that it may be there at a moment of the monotonic clock, Unix milliseconds; null without a response. */
  latestMs(monotonicMs: number): number | null {
    return Number.isFinite(this.#mostMs) ? Math.ceil(monotonicMs + this.#mostMs) : null;
  }
}

const secondLengthMs = 1_000;
