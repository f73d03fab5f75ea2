import { type ExchangeClient, ExchangeError, type OrderIntent } from '@pm/client';
import type { Random } from '@pm/kit/random';
import type { ListedMarket } from '../whole-exchange.ts';

/** Sizes beyond what any wallet holds are refused by the matcher, which alone knows of locked tokens. */
const hugeSize = '50000';
/** GTD orders end so long after they were signed at the earliest (conventions.md 3.6), and a little later, seconds. */
/** Life of a GTD order, seconds. */
export const gtdSeconds = { least: 190, most: 240 };

/** One wallet that sends orders of every type, by the random numbers of a seed. */
export class SeededOrders {
  /** Every order that was sent, in order. */
  readonly ids: string[] = [];
  /** Code of a refusal -> how often. */
  readonly refusals = new Map<string, number>();
  readonly #client: ExchangeClient;
  readonly #random: Random;
  readonly #markets: readonly ListedMarket[];

  constructor(client: ExchangeClient, random: Random, markets: readonly ListedMarket[]) {
    this.#client = client;
    this.#random = random;
    this.#markets = markets;
  }

  /** One action: mostly an order, sometimes a batch, the same order twice, or a cancel. */
  async act(): Promise<void> {
    const dice = this.#random.next();
    if (dice < 0.08) await this.#cancelSome();
    else if (dice < 0.1) await this.#cancelMarket();
    else if (dice < 0.2) await this.#batch(this.#random.integer(2, 4));
    else await this.place(this.intent(), dice < 0.25 ? 2 : 1);
  }

  /** Sends an order so many times; it is one order. */
  async place(intent: OrderIntent, times = 1): Promise<void> {
    const order = await this.#client.prepareOrder(intent);
    this.ids.push(order.orderId);
    for (let time = 0; time < times; time += 1) {
      const { success, code } = await this.#client.postOrder(order);
      // No repeat after a refusal: its conditions may have changed, and the same order could then be another one.
      if (!success) {
        this.#note(code);
        return;
      }
    }
  }

  /** Any order, near one half on either token, so that direct, mint and merge matches happen. */
  intent(): OrderIntent {
    const random = this.#random;
    const { tokenIds } = random.pick(this.#markets);
    const price = (random.integer(44, 56) / 100).toFixed(2);
    const side = random.chance(0.7) ? 'BUY' : 'SELL';
    const size = side === 'SELL' && random.chance(0.1) ? hugeSize : String(random.integer(2, 25));
    const shared = { tokenId: random.pick(tokenIds), side, price } as const;
    const type = random.pick(['GTC', 'GTC', 'GTC', 'post-only', 'GTD', 'FOK', 'FAK', 'budget']);
    if (type === 'budget') {
      const budget = String(random.integer(1, 12));
      return { ...shared, side: 'BUY', budget, timeInForce: random.pick(['FOK', 'FAK']) };
    }
    if (type === 'FOK' || type === 'FAK') return { ...shared, size, timeInForce: type };
    if (type !== 'GTD') return { ...shared, size, postOnly: type === 'post-only' };
    const aheadSeconds = random.integer(gtdSeconds.least, gtdSeconds.most);
    const expiration = Math.floor(Date.now() / 1000) + aheadSeconds;
    return { ...shared, size, timeInForce: 'GTD', expiration };
  }

  async #batch(count: number): Promise<void> {
    const intents = Array.from({ length: count }, () => this.intent());
    const orders = await Promise.all(intents.map((intent) => this.#client.prepareOrder(intent)));
    this.ids.push(...orders.map(({ orderId }) => orderId));
    for (const { success, code } of await this.#client.postOrders(orders))
      if (!success) this.#note(code);
  }

  /** Any of the last orders, whether they rest or not. */
  async #cancelSome(): Promise<void> {
    const ids = this.ids.slice(-this.#random.integer(1, 10));
    if (ids.length > 0) await this.#client.cancelOrders(ids);
  }

  /** A partition may refuse for a moment to carry it out wholly. */
  async #cancelMarket(): Promise<void> {
    const { conditionId } = this.#random.pick(this.#markets);
    try {
      await this.#client.cancelMarketOrders({ market: conditionId });
    } catch (error) {
      if (!(error instanceof ExchangeError) || !error.retryable) throw error;
    }
  }

  #note(code = ''): void {
    this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1);
  }
}
