import {
  type BuiltOrder,
  ExchangeClient,
  ExchangeError,
  noRetries,
  type OrderIntent,
  type Signer,
  UnresolvedOrdersError,
} from '@pm/client';
import { ordersPerRequestMax, type PlacementResult } from '@pm/schemas';

/** What a desk did so far. */
export interface DeskCounts {
  orders: number;
  refused: number;
  errors: number;
}

/** Pauses between tries while the exchange is starting or restarting. */
const retryMs = 1_000;
const retriesMax = 30;

/** A trading account of the demo: signs, sends in batches, and counts what came back. */
export class Desk {
  readonly counts: DeskCounts = { orders: 0, refused: 0, errors: 0 };
  readonly #client: ExchangeClient;

  constructor(baseUrl: string, signer: Signer) {
    this.#client = new ExchangeClient({ baseUrl, signer, retry: noRetries });
  }

  async connect(): Promise<void> {
    await patiently(() => this.#client.connect());
  }

  /** Signs and sends; a result for each that got one. A request that fails as a whole is counted, not repeated. */
  async place(intents: readonly OrderIntent[]): Promise<(PlacementResult | null)[]> {
    const results: (PlacementResult | null)[] = [];
    for (let from = 0; from < intents.length; from += ordersPerRequestMax) {
      const slice = intents.slice(from, from + ordersPerRequestMax);
      results.push(...(await this.#placeBatch(slice)));
    }
    return results;
  }

  /** Cancels everything this account has in a market. */
  async cancelMarket(conditionId: string): Promise<void> {
    try {
      await this.#client.cancelMarketOrders({ market: conditionId });
    } catch (error) {
      this.#countError(error);
    }
  }

  async #placeBatch(intents: readonly OrderIntent[]): Promise<(PlacementResult | null)[]> {
    try {
      const built: BuiltOrder[] = [];
      for (const intent of intents) built.push(await this.#client.prepareOrder(intent));
      const results = await this.#client.postOrders(built);
      this.counts.orders += results.length;
      this.counts.refused += results.filter((result) => !result.success).length;
      return [...results];
    } catch (error) {
      this.#countError(error);
      return intents.map(() => null);
    }
  }

  /** The exchange may be away for a while; anything else is a fault of the demo itself. */
  #countError(error: unknown): void {
    const isKnown = error instanceof ExchangeError || error instanceof UnresolvedOrdersError;
    if (!isKnown) throw error;
    this.counts.errors += 1;
  }
}

/** Repeats while the exchange is not there yet, bounded. */
async function patiently(action: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await action();
      return;
    } catch (error) {
      const isPassing = error instanceof ExchangeError && error.retryable;
      if (!isPassing || tries >= retriesMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}
