import { setTimeout as wait } from 'node:timers/promises';
import {
  type BuiltOrder,
  ExchangeClient,
  ExchangeError,
  type OrderIntent,
  type Placement,
  type RetryPolicy,
  type Signer,
  UnresolvedOrdersError,
} from '@pm/client';
import type { Random } from '@pm/kit/random';
import type { ApiKeyTrio } from '@pm/schemas/http/trading';

export interface SmokeMarket {
  readonly market: number;
  readonly partition: number;
  readonly conditionId: string;
  readonly tokenIds: readonly [string, string];
}

/** Results that a trader received, to be compared with the log. */
export interface Received {
  /** Order ids with success. */
  readonly placed: Set<string>;
  /** Order ids with a refusal. */
  readonly refused: Set<string>;
  /** Orders and trades that were not readable right after their result, or differed. */
  readonly unread: string[];
  /** Refusal code -> how often. */
  readonly codes: Map<string, number>;
  /** Latency of single orders without other load, milliseconds. */
  readonly latenciesMs: number[];
  requests: number;
  retries: number;
}

export function nothingReceived(): Received {
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

/** Longer than any service may take to come back (run.ts). */
const defaultRetry = { firstPauseMs: 250, longestPauseMs: 1_000, totalMs: 90_000 };
/** Times that a call is made. An order that is refused for a moment after a lost attempt stays in doubt for 65 s. */
const callsMax = 4;
const callAgainMs = 1_000;

/**
 * The result of a call that is made again as long as it leaves open what becomes of orders, or the exchange is
 * unavailable: on a busy machine a restart may take longer than a client tries.
 */
async function untilKnown<T>(call: () => Promise<T>): Promise<T> {
  for (let calls = 1; ; calls += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isOpen(error) || calls === callsMax) throw error;
      await wait(callAgainMs);
    }
  }
}

function isOpen(error: unknown): boolean {
  return (
    error instanceof UnresolvedOrdersError ||
    (error instanceof ExchangeError && error.status === 503)
  );
}

/** A trader whose client sends the same signed order again until the exchange returns its result. */
export class Trader {
  readonly #client: ExchangeClient;
  readonly #received: Received;
  readonly #random: Random;

  constructor(
    baseUrl: string,
    signer: Signer,
    parts: { received: Received; random: Random; retry?: RetryPolicy },
  ) {
    const { received, random, retry = defaultRetry } = parts;
    const onAttempt = ({ tries }: { readonly tries: number }) => {
      received.requests += 1;
      if (tries > 1) received.retries += 1;
    };
    this.#client = new ExchangeClient({ baseUrl, signer, retry, onAttempt });
    this.#received = received;
    this.#random = random;
  }

  connect(): Promise<ApiKeyTrio> {
    return this.#client.connect();
  }

  /** Splits the amount, USDC, in each of these markets. */
  async splitIn(markets: readonly SmokeMarket[], amount: string): Promise<void> {
    for (const { conditionId } of markets)
      await this.#client.account.split({ conditionId, amount });
  }

  /** One random action in a market: mostly an order, sometimes a batch, a cancel, or a cancel of everything. */
  async act(market: SmokeMarket): Promise<void> {
    const dice = this.#random.next();
    if (dice < 0.06) await this.#cancelIn(market);
    else if (dice < 0.5) await this.#batch(market, this.#random.integer(2, 15));
    else await this.#send(await this.#client.prepareOrder(this.#intent(market)));
  }

  /** Places one order and records its latency, without signing. */
  async timeOne(market: SmokeMarket): Promise<void> {
    const order = await this.#client.prepareOrder(this.#intent(market));
    const startedAt = performance.now();
    await this.#send(order);
    this.#received.latenciesMs.push(performance.now() - startedAt);
  }

  /** Sends the same signed order ten times. Returns a difference between the responses, or null. */
  async sendTenTimes(intent: OrderIntent): Promise<string | null> {
    const order = await this.#client.prepareOrder(intent);
    const answers: string[] = [];
    for (let times = 0; times < 10; times += 1) {
      const { repeated: _repeated, alive: _alive, ...first } = await this.#send(order);
      answers.push(JSON.stringify(first));
    }
    const different = answers.find((answer) => answer !== answers[0]);
    return different === undefined ? null : `${answers[0]} and ${different}`;
  }

  async #cancelIn({ conditionId: market }: SmokeMarket): Promise<void> {
    await untilKnown(() => this.#client.cancelMarketOrders({ market }));
  }

  async #batch(market: SmokeMarket, count: number): Promise<void> {
    const orders: BuiltOrder[] = [];
    for (let index = 0; index < count; index += 1) {
      orders.push(await this.#client.prepareOrder(this.#intent(market)));
    }
    const results = await untilKnown(() => this.#client.postOrders(orders));
    if (results.length !== orders.length) throw new Error('a result is missing');
    for (const [index, order] of orders.entries()) this.#note(order, results[index]);
  }

  async #send(order: BuiltOrder): Promise<Placement> {
    const result = await untilKnown(() => this.#client.postOrder(order));
    this.#note(order, result);
    if (result.success) await this.#readBack(result);
    return result;
  }

  /** An order and its trades are readable as soon as their result has arrived (conventions.md 3.12). */
  async #readBack({ orderID, tradeIDs = [] }: Placement): Promise<void> {
    if (!(await untilKnown(() => this.#isReadable(orderID))))
      this.#received.unread.push(`order ${orderID} is unknown`);
    const [id] = tradeIDs;
    if (id === undefined) return;
    const { value: trade } = await untilKnown(() => this.#client.own.trades({ id }).next());
    if (trade?.status !== 'CONFIRMED') this.#received.unread.push(`trade ${id} is unknown`);
  }

  async #isReadable(orderId: string): Promise<boolean> {
    try {
      await this.#client.own.order(orderId);
      return true;
    } catch (error) {
      if (error instanceof ExchangeError && error.status === 404) return false;
      throw error;
    }
  }

  /** Records the result of an order. */
  #note(order: BuiltOrder, result: Placement | undefined): void {
    if (result === undefined || result.status === 'delayed' || passingCodes.has(result.code ?? ''))
      throw new Error(`order ${order.orderId} never got a result`);
    if (result.success) {
      if (result.orderID !== order.orderId)
        throw new Error(`${order.orderId} came back as another`);
      this.#received.placed.add(order.orderId);
      return;
    }
    this.#received.refused.add(order.orderId);
    this.#received.codes.set(
      result.code ?? '',
      (this.#received.codes.get(result.code ?? '') ?? 0) + 1,
    );
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

/** Temporary refusals: the same order may be accepted later. */
const passingCodes = new Set([
  'partition_not_ready',
  'ledger_not_ready',
  'overloaded',
  'internal_error',
  'order_unconfirmed',
  'old_generation',
]);
