import type {
  Notification,
  OpenOrder,
  OrderSubmission,
  RateLimitsAnswer,
  StoredOrder,
  Trade,
  WalletBalances,
} from '@pm/schemas';
import type { Connection } from './connection.ts';
import { everyRow } from './paging.ts';

export interface OrderFilter {
  readonly id?: string;
  /** Condition id. */
  readonly market?: string;
  /** Token id. */
  readonly assetId?: string;
}

export interface TradeFilter extends OrderFilter {
  readonly makerAddress?: string;
  /** Unix seconds, exclusive. */
  readonly before?: number;
  /** Unix seconds, exclusive. */
  readonly after?: number;
}

/** An order by id in a list: what it is, or why it cannot be told. */
export interface FoundOrder {
  readonly order_id: string;
  /** 200, 400 (no order id) or 404. */
  readonly status: number;
  readonly order?: StoredOrder['order'];
  readonly error?: string;
  /** Why it was refused, when it was never an order. */
  readonly code?: string;
}

/** What the exchange knows of the caller, as of the moment of the request. */
export class OwnReads {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Throws `ExchangeError` 404 for an order that was never accepted; its `code` says why it was refused. */
  order(orderId: string): Promise<StoredOrder> {
    return this.#connection.readOwn(`/data/order/${orderId}`);
  }

  /** 1 to 500 orders, an entry for each in the order asked. */
  ordersById(orderIds: readonly string[]): Promise<readonly FoundOrder[]> {
    const body = orderIds.map((orderId) => ({ orderId }));
    return this.#connection.signed({ method: 'POST', path: '/data/orders', body });
  }

  /** Open orders, newest placement first. */
  openOrders({ id, market, assetId }: OrderFilter = {}): AsyncGenerator<OpenOrder, void> {
    return everyRow(this.#connection, '/data/orders', { id, market, asset_id: assetId });
  }

  /** Trades, newest first. Pages go by number: trades that happen meanwhile may show a row twice; ids tell. */
  trades(filter: TradeFilter = {}): AsyncGenerator<Trade, void> {
    return everyRow(this.#connection, '/data/trades', {
      id: filter.id,
      market: filter.market,
      asset_id: filter.assetId,
      maker_address: filter.makerAddress,
      before: filter.before?.toString(),
      after: filter.after?.toString(),
    });
  }

  async balances(): Promise<readonly WalletBalances[]> {
    const { wallets } = await this.#connection.readOwn<{ wallets: WalletBalances[] }>('/balances');
    return wallets;
  }

  notifications(): Promise<readonly Notification[]> {
    return this.#connection.readOwn('/notifications');
  }

  async deleteNotifications(ids: readonly number[]): Promise<readonly string[]> {
    const query = { ids: ids.join(',') };
    const sent = { method: 'DELETE', path: '/notifications', query } as const;
    const { deleted } = await this.#connection.signed<{ deleted: string[] }>(sent);
    return deleted;
  }

  /** What the caller may still ask (limits.md). */
  rateLimits(): Promise<RateLimitsAnswer> {
    return this.#connection.readOwn('/rate-limits');
  }

  /** Every check of placing, without placing (conventions.md 3.11). */
  validate(submissions: readonly OrderSubmission[]): Promise<readonly OrderFinding[]> {
    return this.#connection.signed({ method: 'POST', path: '/orders/validate', body: submissions });
  }
}

/** What placing an order would meet. */
export interface OrderFinding {
  readonly valid: boolean;
  readonly code?: string;
  readonly errorMsg: string;
  readonly orderID?: string;
  /** Placing it again would give its first answer. */
  readonly known?: boolean;
  readonly signature?: {
    readonly valid: boolean;
    readonly expected: string;
    readonly structHash: string;
    readonly orderHash: string | null;
    readonly domains: readonly unknown[];
  };
  readonly money?: {
    readonly wallet: string;
    readonly needed: string;
    readonly available: string | null;
    readonly sufficient: boolean | null;
  } | null;
}
