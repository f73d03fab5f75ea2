import { setTimeout as sleep } from 'node:timers/promises';
import { Poster } from '../latency/poster.ts';
import type { Trader, WorldMarket } from '../world/world.ts';

/** An order that rests or has traded; any other answer says nothing of the book. */
const booked = /"status":"(live|matched)"/;
/** Orders of a wallet after which it takes all of them back: it may have 10,000 in a partition. */
const restingMax = 2_000;

/** How the orders of one market were answered. */
export interface StreamCounts {
  sent: number;
  acknowledged: number;
  /** Answered with a status that asks to try again, such as 425. */
  refused: number;
  /** Any other status, or none. */
  failed: number;
}

export interface OrderStreamParts {
  readonly trader: Trader;
  readonly market: WorldMarket;
  readonly pauseMs: number;
}

/** Orders of one market, one after the other, with the moments of their acknowledgements. Never repeats one. */
export class OrderStream {
  readonly counts: StreamCounts = { sent: 0, acknowledged: 0, refused: 0, failed: 0 };
  readonly #poster: Poster;
  readonly #trader: Trader;
  readonly #market: WorldMarket;
  readonly #pauseMs: number;
  readonly #acknowledgedAtMs: number[] = [];
  #isEnding = false;
  #running: Promise<void> = Promise.resolve();

  /** `pauseMs` is between the answer of an order and the next one. */
  constructor(baseUrl: string, { trader, market, pauseMs }: OrderStreamParts) {
    this.#pauseMs = pauseMs;
    this.#poster = new Poster(baseUrl);
    this.#trader = trader;
    this.#market = market;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** The longest time without an acknowledgement since a moment, milliseconds. */
  longestGapMs(fromMs: number): number {
    const before = this.#acknowledgedAtMs.findLast((ms) => ms < fromMs) ?? fromMs;
    const after = this.#acknowledgedAtMs.filter((ms) => ms >= fromMs);
    const ends = [...after, performance.now()];
    return Math.max(...ends.map((ms, at) => ms - (ends[at - 1] ?? before)));
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#running;
    this.#poster.close();
  }

  async #run(): Promise<void> {
    while (!this.#isEnding) {
      await this.#order();
      if (this.counts.sent % restingMax === 0) await this.#cancelAll();
      await sleep(this.#pauseMs);
    }
  }

  async #cancelAll(): Promise<void> {
    const sent = { method: 'DELETE', path: '/cancel-all', body: '' } as const;
    await this.#poster.signed(this.#trader.key, sent);
  }

  /** Buys of one wallet, which never meet. */
  async #order(): Promise<void> {
    const { key } = this.#trader;
    const price = `0.${String(10 + (this.counts.sent % 30))}`;
    const intent = { tokenId: this.#market.tokens[0], side: 'BUY', price, size: '5' } as const;
    const { body } = this.#trader.sign(intent);
    this.counts.sent += 1;
    const { status, body: answer } = await this.#poster.post(key, body);
    if (status === 200 && booked.test(answer)) {
      this.counts.acknowledged += 1;
      this.#acknowledgedAtMs.push(performance.now());
    } else if (status === 425 || status === 503) this.counts.refused += 1;
    else this.counts.failed += 1;
  }
}
