/**
 * A recording played against the clock: `due` returns the items that have come due since the last call; at the end it
 * starts again.
 */
export class Playback<Item extends { readonly timeMs: number }> {
  readonly #items: readonly Item[];
  readonly #speed: number;
  readonly #startedAtMs: number;
  #next = 0;
  /** Recorded milliseconds of the rounds already played. */
  #playedMs = 0;

  /** `items` ordered by time; `speed` 1 is real time. */
  constructor(items: readonly Item[], speed: number, nowMs: number) {
    this.#items = items;
    this.#speed = speed;
    this.#startedAtMs = nowMs;
  }

  /** At most `limit` items that are due at `nowMs`, in order. */
  due(nowMs: number, limit: number): Item[] {
    const first = this.#items[0];
    const last = this.#items[this.#items.length - 1];
    if (first === undefined || last === undefined) return [];
    const recordedMs = (nowMs - this.#startedAtMs) * this.#speed;
    const due: Item[] = [];
    while (due.length < limit) {
      const item = this.#items[this.#next];
      if (item === undefined) {
        this.#next = 0;
        this.#playedMs += last.timeMs - first.timeMs + 1_000;
        continue;
      }
      if (item.timeMs - first.timeMs + this.#playedMs > recordedMs) break;
      due.push(item);
      this.#next += 1;
    }
    return due;
  }
}
