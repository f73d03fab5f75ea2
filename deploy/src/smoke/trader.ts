import {
  type BuiltOrder,
  ExchangeClient,
  ExchangeError,
  type OrderIntent,
  type Signer,
} from '@pm/client';
import type { ApiKeyTrio, PlacementResult } from '@pm/schemas';
import type { Random } from './random.ts';

export interface SmokeMarket {
  readonly market: number;
  readonly conditionId: string;
  readonly tokenIds: readonly [string, string];
}

/** What a trader was told, to be held against the log. */
export interface Told {
  /** Order ids answered with success. */
  readonly placed: Set<string>;
  /** Order ids answered with a refusal. */
  readonly refused: Set<string>;
  /** What was not readable right after its answer, or told otherwise. */
  readonly unread: string[];
  /** Refusal code -> how often. */
  readonly codes: Map<string, number>;
  /** Milliseconds from request to answer of single orders, one at a time, while nothing else went on. */
  readonly latenciesMs: number[];
  requests: number;
  retries: number;
}

export function nothingTold(): Told {
  return {
    placed: new Set(),
    refused: new Set(),
    unread: [],
    codes: new Map(),
    latenciesMs: [],
    requests: 0,
    retries: 0,
  };
}

/** Blind retries of one order until it has a definite answer. */
const retriesMax = 60;
const retryMs = 250;

/** A trader who never gives up: the same signed order is sent again until the exchange tells its fate. */
export class Trader {
  readonly #client: ExchangeClient;
  readonly #told: Told;
  readonly #random: Random;

  constructor(baseUrl: string, signer: Signer, parts: { told: Told; random: Random }) {
    this.#client = new ExchangeClient({ baseUrl, signer });
    this.#told = parts.told;
    this.#random = parts.random;
  }

  connect(): Promise<ApiKeyTrio> {
    return this.#client.connect();
  }

  /** One random action in a market: mostly an order, sometimes a batch, a cancel, or a cancel of everything. */
  async act(market: SmokeMarket): Promise<void> {
    const dice = this.#random.next();
    if (dice < 0.06) await this.#cancelMarket(market);
    else if (dice < 0.5) await this.#batch(market, this.#random.integer(2, 15));
    else await this.#send(await this.#prepare(this.#intent(market)));
  }

  /** One order, and how long its answer took; signing it is not counted. */
  async timeOne(market: SmokeMarket): Promise<void> {
    const order = await this.#prepare(this.#intent(market));
    const startedAt = performance.now();
    await this.#send(order);
    this.#told.latenciesMs.push(performance.now() - startedAt);
  }

  /** The same signed order ten times: ten equal answers. Returns what differs, or null. */
  async sendTenTimes(intent: OrderIntent): Promise<string | null> {
    const order = await this.#client.prepareOrder(intent);
    const answers: string[] = [];
    for (let times = 0; times < 10; times += 1) {
      answers.push(JSON.stringify(await this.#send(order)));
    }
    const different = answers.find((answer) => answer !== answers[0]);
    return different === undefined ? null : `${answers[0]} and ${different}`;
  }

  async #batch(market: SmokeMarket, count: number): Promise<void> {
    const orders: BuiltOrder[] = [];
    for (let index = 0; index < count; index += 1) {
      orders.push(await this.#prepare(this.#intent(market)));
    }
    let waiting = orders;
    for (let tries = 0; waiting.length > 0; tries += 1) {
      if (tries >= retriesMax) throw new Error(`${waiting.length} orders without an answer`);
      waiting = await this.#sendBatch(waiting);
      if (waiting.length > 0) await this.#pause();
    }
  }

  /** Sends a batch and returns what has no definite answer yet. */
  async #sendBatch(orders: readonly BuiltOrder[]): Promise<BuiltOrder[]> {
    try {
      this.#told.requests += 1;
      const results = await this.#client.postOrders(orders.map((order) => order.submission));
      if (results.length !== orders.length) throw new Error('a result is missing');
      return orders.filter((order, index) => !this.#note(order, results[index]));
    } catch (error) {
      this.#mustBePassing(error);
      return [...orders];
    }
  }

  async #send(order: BuiltOrder): Promise<PlacementResult> {
    for (let tries = 0; tries < retriesMax; tries += 1) {
      try {
        this.#told.requests += 1;
        const result = await this.#client.postOrder(order.submission);
        if (this.#note(order, result)) {
          if (result.success) await this.#readBack(result);
          return result;
        }
      } catch (error) {
        this.#mustBePassing(error);
      }
      await this.#pause();
    }
    throw new Error(`order ${order.orderId} never got an answer`);
  }

  /** An order and its trades are readable as soon as they are answered (docs/conventions.md 1.6). */
  async #readBack({ orderID, tradeIDs = [] }: PlacementResult): Promise<void> {
    const order = await this.#readOwn<{ status: string }>(`/data/order/${orderID}`);
    if (order === null) this.#told.unread.push(`order ${orderID} is unknown`);
    const [id] = tradeIDs;
    if (id === undefined) return;
    const page = await this.#readOwn<{ data: { status: string }[] }>('/data/trades', { id });
    if (page?.data[0]?.status !== 'CONFIRMED') this.#told.unread.push(`trade ${id} is unknown`);
  }

  /** Null when it is not there. */
  async #readOwn<T>(path: string, query: Readonly<Record<string, string>> = {}): Promise<T | null> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#client.readOwn<T>(path, query);
      } catch (error) {
        if (error instanceof ExchangeError && error.status === 404) return null;
        if (tries >= retriesMax) throw error;
        this.#mustBePassing(error);
        await this.#pause();
      }
    }
  }

  async #cancelMarket(market: SmokeMarket): Promise<void> {
    try {
      this.#told.requests += 1;
      await this.#client.cancelMarketOrders({ market: market.conditionId });
    } catch (error) {
      this.#mustBePassing(error);
    }
  }

  /** Signing needs one read per token, which may meet a killed door. */
  async #prepare(intent: OrderIntent): Promise<BuiltOrder> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await this.#client.prepareOrder(intent);
      } catch (error) {
        if (tries >= retriesMax) throw error;
        this.#mustBePassing(error);
        await this.#pause();
      }
    }
  }

  /** Whether the answer is definite; a delayed order, and one that waiting helps, is asked for again. */
  #note(order: BuiltOrder, result: PlacementResult | undefined): boolean {
    if (result === undefined || result.status === 'delayed') return false;
    if (result.success) {
      if (result.orderID !== order.orderId)
        throw new Error(`${order.orderId} came back as another`);
      this.#told.placed.add(order.orderId);
      return true;
    }
    if (passingCodes.has(result.code ?? '')) return false;
    this.#told.refused.add(order.orderId);
    this.#told.codes.set(result.code ?? '', (this.#told.codes.get(result.code ?? '') ?? 0) + 1);
    return true;
  }

  #mustBePassing(error: unknown): void {
    this.#told.retries += 1;
    const status = error instanceof ExchangeError ? error.status : 503;
    if (status < 500 && status !== 425 && status !== 429) throw error;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, retryMs));
  }

  #intent(market: SmokeMarket): OrderIntent {
    const random = this.#random;
    const outcome = random.integer(0, 1);
    // Around one half on either token, so that direct, mint and merge matches all happen.
    const cents = random.integer(44, 56);
    const timeInForce = random.pick(['GTC', 'GTC', 'GTC', 'FAK', 'FOK'] as const);
    const side = random.chance(0.75) ? 'BUY' : 'SELL';
    const isMarketBuy = timeInForce !== 'GTC' && side === 'BUY' && random.chance(0.5);
    return {
      tokenId: market.tokenIds[outcome] ?? market.tokenIds[0],
      side,
      price: String(cents / 100),
      timeInForce,
      ...(isMarketBuy
        ? { budget: String(random.integer(1, 20)) }
        : { size: String(random.integer(5, 30)) }),
      ...(timeInForce === 'GTC' && random.chance(0.2) ? { postOnly: true } : {}),
    };
  }
}

/** Refusals that say "not now": the same order may still be taken. */
const passingCodes = new Set([
  'partition_not_ready',
  'ledger_not_ready',
  'overloaded',
  'internal_error',
  'old_generation',
]);
