/** Sends texts at a bounded rate, in order: a burst first, then evenly. */
export class Pacer {
  readonly #send: (text: string) => void;
  readonly #perSecond: number;
  #queue: string[] = [];
  #left: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #countedAtMs = performance.now();

  constructor(send: (text: string) => void, perSecond: number) {
    this.#send = send;
    this.#perSecond = perSecond;
    this.#left = perSecond;
  }

  /** The queue is bounded by the subscriptions of the connection: each has one request at a time. */
  send(text: string): void {
    this.#queue.push(text);
    this.#drain();
  }

  stop(): void {
    this.#queue = [];
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #drain(): void {
    this.#refill();
    while (this.#left >= 1) {
      const text = this.#queue.shift();
      if (text === undefined) return;
      this.#left -= 1;
      this.#send(text);
    }
    if (this.#queue.length === 0 || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#drain();
    }, 1_000 / this.#perSecond);
  }

  #refill(): void {
    const nowMs = performance.now();
    const gained = ((nowMs - this.#countedAtMs) / 1_000) * this.#perSecond;
    this.#left = Math.min(this.#perSecond, this.#left + gained);
    this.#countedAtMs = nowMs;
  }
}
