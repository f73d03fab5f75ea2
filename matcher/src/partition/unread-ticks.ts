/** Ticks that are known to be unread; further ones are left out until some were read. */
const unreadMax = 1_000;

interface StoredTick {
  readonly offset: number;
  readonly sentMs: number;
}

/**
 * Which of its own ticks an owner has read again: what proves that it reads and applies its partition. Milliseconds of
 * one monotonic clock.
 */
export class UnreadTicks {
  readonly #everyMs: number;
  #unread: StoredTick[] = [];
  /** When the newest tick that was read again was sent; before the first, when ticks began. Infinity without ticks. */
  #readMs = Number.POSITIVE_INFINITY;
  #storedMs = Number.NEGATIVE_INFINITY;
  /** Time in which ticks were stored and no record was applied. */
  #stillMs = 0;
  #appliedTo = -1;

  /** `everyMs`: between two ticks. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** A tick is being sent. */
  sent(nowMs: number): void {
    this.#readMs = Math.min(this.#readMs, nowMs);
  }

  /** It is stored. A process or a log that stood still itself counts for two intervals at most. */
  stored({ offset, sentMs }: StoredTick, nowMs: number): void {
    if (offset < this.#appliedTo) {
      this.#readMs = sentMs;
      return;
    }
    if (this.#unread.length > 0)
      this.#stillMs += Math.min(nowMs - this.#storedMs, 2 * this.#everyMs);
    this.#storedMs = nowMs;
    if (this.#unread.length < unreadMax) this.#unread.push({ offset, sentMs });
  }

  /** All records before this offset were applied. */
  applied(nextOffset: number): void {
    if (nextOffset === this.#appliedTo) return;
    this.#appliedTo = nextOffset;
    this.#stillMs = 0;
    const read = this.#unread.findLastIndex(({ offset }) => offset < nextOffset);
    const newest = this.#unread[read];
    if (newest === undefined) return;
    this.#readMs = newest.sentMs;
    this.#unread = this.#unread.slice(read + 1);
  }

  /** Another process sends the ticks. */
  end(): void {
    this.reopened();
    this.#readMs = Number.POSITIVE_INFINITY;
  }

  /** The partition is read from another offset on. */
  reopened(): void {
    this.#unread = [];
    this.#stillMs = 0;
    this.#appliedTo = -1;
  }

  /** Since the newest tick that was read again was sent; 0 without ticks. */
  ageMs(nowMs: number): number {
    return Math.max(0, nowMs - this.#readMs);
  }

  /** Whether all of them were read that are known to be stored. */
  get areRead(): boolean {
    return this.#unread.length === 0;
  }

  /** For so long ticks have been stored while no record was applied. */
  get stillMs(): number {
    return this.#stillMs;
  }
}
