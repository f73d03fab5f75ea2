import { setTimeout as sleep } from 'node:timers/promises';
import { type BookEvent, ExchangeClient, type Signer } from '@pm/client';
import type { LogAudit } from '@pm/operate/audit/log-audit';
import { microText, priceText } from '@pm/schemas/decimal';
import { walletFromBytes } from '@pm/schemas/ids';
import type { Execution } from '@pm/schemas/log/executions';
import { tradeId } from '@pm/schemas/trade-id';
import type { SmokeMarket } from './trader.ts';

/** Longer than any service may take to come back (run.ts). */
const retry = { firstPauseMs: 250, longestPauseMs: 1_000, totalMs: 90_000 };
/** Streams have so long to reach the end of the log once orders stop. */
const quietMaxMs = 30_000;

/** The fills of one wallet and the book of one market as a client of the streams receives them. */
export class StreamWatch {
  readonly #wallet: string;
  readonly #market: SmokeMarket;
  readonly #received: string[] = [];
  readonly #expected: string[] = [];
  readonly #failures: string[] = [];
  #book: BookEvent | null = null;
  #end: () => Promise<unknown> = async () => {};

  private constructor(wallet: string, market: SmokeMarket) {
    this.#wallet = wallet;
    this.#market = market;
  }

  /** Resolves when both subscriptions have begun. */
  static async open(baseUrl: string, signer: Signer, market: SmokeMarket): Promise<StreamWatch> {
    const client = new ExchangeClient({ baseUrl, signer, retry });
    await client.connect();
    const watch = new StreamWatch(signer.address.toLowerCase(), market);
    const books = client.stream.book(market.tokenIds[0]);
    const own = client.stream.own();
    const first = await books.next();
    watch.#book = first.value ?? null;
    await own.next();
    watch.#end = () => Promise.all([books.return?.(), own.return?.()]);
    void watch.#follow(books, (book) => {
      watch.#book = book;
    });
    void watch.#follow(own, (event) => {
      if (event.type === 'event' && event.kind === 'fill')
        watch.#received.push(`${event.id} ${event.role}`);
    });
    return watch;
  }

  /** Ends both subscriptions. */
  async end(): Promise<void> {
    await this.#end();
  }

  /** Takes a record of the log: the fills of the wallet in it must have been received. */
  expect(partition: number, { events, inOffset }: Execution): void {
    for (const [eventIndex, event] of events.entries()) {
      if (event.kind !== 'Fill') continue;
      const id = tradeId({ partition, inOffset, eventIndex });
      if (walletFromBytes(event.taker) === this.#wallet) this.#expected.push(`${id} TAKER`);
      if (walletFromBytes(event.maker) === this.#wallet) this.#expected.push(`${id} MAKER`);
    }
  }

  /** Differences between the streams and the log, once the streams had time to reach its end. */
  async compare(audit: LogAudit): Promise<string[]> {
    const endMs = performance.now() + quietMaxMs;
    let problems = this.#differences(audit);
    while (problems.length > 0 && performance.now() < endMs) {
      await sleep(200);
      problems = this.#differences(audit);
    }
    return problems;
  }

  #differences(audit: LogAudit): string[] {
    const problems = [...this.#failures];
    const received = [...this.#received].sort();
    const expected = [...this.#expected].sort();
    if (expected.length === 0) problems.push('the wallet has no fills to compare');
    if (received.join() !== expected.join()) {
      problems.push(`own had ${received.length} fills, the log has ${expected.length}`);
    }
    const levels = audit.levels.get(this.#market.market);
    const { bids = [], asks = [] } = this.#book ?? {};
    for (const [side, shown, sizes] of [
      ['bids', bids, levels?.bids.sizes],
      ['asks', asks, levels?.asks.sizes],
    ] as const) {
      const texts = shown.map(({ price, size }) => `${price} ${size}`).sort();
      const logged = [...(sizes ?? [])].map(([price, size]) =>
        [priceText(price), microText(size)].join(' '),
      );
      if (texts.join() !== logged.sort().join()) problems.push(`${side} differ from the log`);
    }
    return problems;
  }

  async #follow<Event>(events: AsyncIterable<Event>, take: (event: Event) => void): Promise<void> {
    try {
      for await (const event of events) take(event);
      this.#failures.push('a stream ended');
    } catch (error) {
      this.#failures.push(`a stream failed: ${String(error)}`);
    }
  }
}
