import type { FoundOrder } from '@pm/schemas/http/batches';
import type { Notification } from '@pm/schemas/http/notifications';
import type { OrderFinding } from '@pm/schemas/http/order-finding';
import type { OpenOrder, WalletBalances } from '@pm/schemas/http/private-reading';
import type { RateLimitsResponse } from '@pm/schemas/http/rate-limits';
import type { StoredOrder, Trade } from '@pm/schemas/http/reading';
import type { OrderToValidate } from '@pm/schemas/http/trading';
import type { ResponseOf } from '@pm/schemas/routes/routes';
import type { Connection } from './connection.ts';
import { everyRow } from './paging.ts';
import type { OwnEvent } from './streams/frames.ts';
import type { Messages, OwnEventsOptions, StreamApi } from './streams/stream-api.ts';

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

/** Private reads of the caller, with the state at the time of the request. */
export class OwnReads {
  readonly #connection: Connection;
  readonly #stream: StreamApi;

  constructor(connection: Connection, stream: StreamApi) {
    this.#connection = connection;
    this.#stream = stream;
  }

  /** Own orders, fills, balances, positions and sessions as they change, each once (`StreamApi.own`). */
  events(options: OwnEventsOptions = {}): Messages<OwnEvent> {
    return this.#stream.own(options);
  }

  /** Throws `ExchangeError` 404 for an order that was never accepted; its `code` is the reason of the refusal. */
  order(orderId: string): Promise<StoredOrder> {
    return this.#connection.readOwn(`/data/order/${orderId}`);
  }

  /** 1 to 500 orders, one entry each in the order of the request. */
  ordersById(orderIds: readonly string[]): Promise<readonly FoundOrder[]> {
    const body = orderIds.map((orderId) => ({ orderId }));
    return this.#connection.signed({ method: 'POST', path: '/data/orders', body });
  }

  /** Open orders, newest placement first: each that rests all the while once, whatever comes and goes meanwhile. */
  openOrders({ id, market, assetId }: OrderFilter = {}): AsyncGenerator<OpenOrder, void> {
    return everyRow(this.#connection, '/data/orders', { id, market, asset_id: assetId });
  }

  /** Trades, newest first, each once; trades of meanwhile are not among them. */
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
    const { wallets } = await this.#connection.readOwn<ResponseOf<'listBalances'>>('/balances');
    return wallets;
  }

  notifications(): Promise<readonly Notification[]> {
    return this.#connection.readOwn('/notifications');
  }

  async deleteNotifications(ids: readonly number[]): Promise<readonly string[]> {
    const query = { ids: ids.join(',') };
    const sent = { method: 'DELETE', path: '/notifications', query } as const;
    const { deleted } = await this.#connection.signed<ResponseOf<'deleteNotifications'>>(sent);
    return deleted;
  }

  /** Rate limits of the caller and what is left of them (limits.md). */
  rateLimits(): Promise<RateLimitsResponse> {
    return this.#connection.readOwn('/rate-limits');
  }

  /** Every check of placing, without placing; of orders that are signed or not (conventions.md 3.11). */
  validate(submissions: readonly OrderToValidate[]): Promise<readonly OrderFinding[]> {
    return this.#connection.signed({ method: 'POST', path: '/orders/validate', body: submissions });
  }
}
