import { setTimeout as sleep } from 'node:timers/promises';
import {
  type BuiltOrder,
  ExchangeClient,
  ExchangeError,
  noRetries,
  type OrderIntent,
  type Placement,
  type Signer,
  UnresolvedActionError,
  UnresolvedOrdersError,
} from '@pm/client';
import { ordersPerRequestMax } from '@pm/schemas/http/trading';

/** Requests of an account so far. */
export interface AccountCounts {
  orders: number;
  refused: number;
  errors: number;
}

/** A comment on an event, under the name of its author. */
export interface Remark {
  readonly eventId: string;
  readonly author: string;
  readonly text: string;
  /** Id of the remark: the comment is written once, however often a request with this id is sent. */
  readonly id: string;
}

/** Retries while the exchange is starting or restarting. */
const retryMs = 1_000;
const attemptsMax = 30;

/** A trading account of the demo: signs orders, sends them in batches and counts the results. */
export class TradingAccount {
  readonly counts: AccountCounts = { orders: 0, refused: 0, errors: 0 };
  readonly #client: ExchangeClient;

  constructor(baseUrl: string, signer: Signer) {
    this.#client = new ExchangeClient({ baseUrl, signer, retry: noRetries });
  }

  async connect(): Promise<void> {
    await retried(() => this.#client.connect());
  }

  /**
   * Signs and sends; one result per order, null where there is none. A request that fails as a whole is counted, not
   * repeated.
   */
  async place(intents: readonly OrderIntent[]): Promise<(Placement | null)[]> {
    const results: (Placement | null)[] = [];
    for (let from = 0; from < intents.length; from += ordersPerRequestMax) {
      const slice = intents.slice(from, from + ordersPerRequestMax);
      results.push(...(await this.#placeBatch(slice)));
    }
    return results;
  }

  /** Cancels all orders of this account in a market. */
  async cancelMarket(conditionId: string): Promise<void> {
    await this.#counted(() => this.#client.cancelMarketOrders({ market: conditionId }));
  }

  /** Whether all tokens of the account in a resolved market were paid out. */
  async redeem(conditionId: string): Promise<boolean> {
    const result = await this.#counted(() => this.#client.account.redeem({ conditionId }));
    return result !== null;
  }

  async comment({ eventId, author, text, id }: Remark): Promise<void> {
    await this.#counted(async () => {
      await this.#client.comments.setProfile({ name: author, bio: 'A wallet of the demo.' });
      const parent = { parent_entity_type: 'Event', parent_entity_id: eventId } as const;
      await this.#client.comments.write({ ...parent, body: text, client_id: id });
    });
  }

  async #placeBatch(intents: readonly OrderIntent[]): Promise<(Placement | null)[]> {
    const results = await this.#counted(async () => {
      const built: BuiltOrder[] = [];
      for (const intent of intents) built.push(await this.#client.prepareOrder(intent));
      return await this.#client.postOrders(built);
    });
    if (results === null) return intents.map(() => null);
    this.counts.orders += results.length;
    this.counts.refused += results.filter((result) => !result.success).length;
    return [...results];
  }

  /**
   * Null when the exchange refused or did not answer: it may be away for a while. Any other error is a defect of the
   * demo.
   */
  async #counted<T>(send: () => Promise<T>): Promise<T | null> {
    try {
      return await send();
    } catch (error) {
      if (!failures.some((kind) => error instanceof kind)) throw error;
      this.counts.errors += 1;
      return null;
    }
  }
}

const failures = [ExchangeError, UnresolvedActionError, UnresolvedOrdersError];

/** Repeats while the exchange is starting, up to `attemptsMax` times. */
async function retried(action: () => Promise<unknown>): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await action();
      return;
    } catch (error) {
      const isRetryable = error instanceof ExchangeError && error.retryable;
      if (!isRetryable || attempts >= attemptsMax) throw error;
      await sleep(retryMs);
    }
  }
}
