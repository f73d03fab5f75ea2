import { setTimeout as sleep } from 'node:timers/promises';
import { type BuiltOrder, ExchangeClient, type Signer } from '@pm/client';
import type { PlacementResult } from '@pm/schemas/http/trading';
import type { SmokeMarket } from '../smoke/trader.ts';

/** An order that was sent once, and what the exchange said of it. */
export interface SentOrder {
  readonly id: string;
  readonly partition: number;
  /** When the response came, or the request failed, milliseconds of `performance.now()`. */
  answeredAtMs: number;
  /** `unknown`: no response, or one that leaves it open. */
  outcome: 'acknowledged' | 'refused' | 'unknown';
  /** Refusal code, or why there is no response; empty for acknowledged ones. */
  code: string;
}

export interface LoadOptions {
  readonly baseUrl: string;
  readonly signers: readonly Signer[];
  readonly markets: readonly SmokeMarket[];
  readonly ordersPerSecond: number;
}

/** Orders on their way at the same time; those that are due beyond it are left out. */
const inFlightMax = 400;

/** A response is waited for so long, milliseconds; longer than any bounded wait of the exchange. */
const responseMaxMs = 15_000;

/** Responses that leave open whether the order is booked. */
const openCodes: ReadonlySet<string> = new Set(['order_unconfirmed', 'internal_error', 'unknown']);

/**
 * Orders at a fixed rate, each sent once, to one market after the other: what a client without retries sees, and no
 * partition waits longer for its next order than another. Half of the wallets buy one token of a market and half the
 * other, at prices that meet, so that books stay small and no wallet meets itself.
 */
export class OrderLoad {
  readonly sent: SentOrder[] = [];
  readonly #options: LoadOptions;
  readonly #clients: readonly ExchangeClient[];
  readonly #inFlight = new Set<Promise<void>>();
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(options: LoadOptions, clients: readonly ExchangeClient[]) {
    this.#options = options;
    this.#clients = clients;
  }

  static async open(options: LoadOptions): Promise<OrderLoad> {
    const { baseUrl, signers } = options;
    const clients = signers.map((signer) => new ExchangeClient({ baseUrl, signer }));
    if (options.markets.length % 2 !== 0)
      throw new RangeError('an even number of markets, so that each gets orders of both tokens');
    const load = new OrderLoad(options, clients);
    await Promise.all(clients.map((client) => client.connect()));
    // The facts of a market that signing needs are fetched once: during a fault they may not be available.
    const first = clients.flatMap((_, index) =>
      options.markets.map((market) => load.#prepare(index, market)),
    );
    await Promise.all(first);
    return load;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when every order has a response. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    await Promise.all(this.#inFlight);
  }

  async #run(): Promise<void> {
    const everyMs = 1_000 / this.#options.ordersPerSecond;
    const startedAtMs = performance.now();
    const due = () => Math.floor((performance.now() - startedAtMs) / everyMs);
    // Late orders are left out: sent all at once, they would be another fault, caused by the load.
    for (let count = 0; !this.#isOver; count = Math.max(count + 1, due())) {
      const waitMs = startedAtMs + count * everyMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      if (this.#inFlight.size >= inFlightMax) {
        await Promise.race(this.#inFlight);
        continue;
      }
      const sending: Promise<void> = this.#send(count).finally(() =>
        this.#inFlight.delete(sending),
      );
      this.#inFlight.add(sending);
    }
  }

  async #send(count: number): Promise<void> {
    const { markets } = this.#options;
    const market = markets[count % markets.length];
    if (market === undefined) throw new RangeError('there is a market');
    // Another wallet in each round, so that a market gets orders of both tokens.
    const index = (count + Math.floor(count / markets.length)) % this.#clients.length;
    const order = await this.#prepare(index, market);
    const { outcome, code } = await this.#outcomeOf(this.#clientAt(index), order);
    const answeredAtMs = performance.now();
    const { orderId: id } = order;
    this.sent.push({ id, partition: market.partition, answeredAtMs, outcome, code });
  }

  #clientAt(index: number): ExchangeClient {
    const client = this.#clients[index];
    if (client === undefined) throw new RangeError('there is such a client');
    return client;
  }

  #prepare(index: number, market: SmokeMarket): Promise<BuiltOrder> {
    const tokenId = market.tokenIds[index % 2] ?? '';
    return this.#clientAt(index).prepareOrder({ tokenId, side: 'BUY', price: '0.5', size: '5' });
  }

  async #outcomeOf(
    client: ExchangeClient,
    { submission: body }: BuiltOrder,
  ): Promise<Pick<SentOrder, 'outcome' | 'code'>> {
    const {
      url,
      method,
      headers,
      body: text,
    } = client.signRequest({
      method: 'POST',
      path: '/order',
      body,
    });
    try {
      const signal = AbortSignal.timeout(responseMaxMs);
      const response = await fetch(url, { method, headers, body: text, signal });
      const result = (await response.json()) as PlacementResult;
      if (response.ok && result.success) return { outcome: 'acknowledged', code: '' };
      const code = result.code ?? String(response.status);
      return { outcome: isOpen(response.status, code) ? 'unknown' : 'refused', code };
    } catch {
      return { outcome: 'unknown', code: 'no_answer' };
    }
  }
}

function isOpen(status: number, code: string): boolean {
  return openCodes.has(code) || (status >= 500 && code === String(status));
}
