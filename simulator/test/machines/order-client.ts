import type { PlacementResult } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import type { Connection, Sending } from '../../../client/src/connection.ts';
import { ExchangeError, UnresolvedOrdersError } from '../../../client/src/errors.ts';
import type { HttpRequest } from '../../../client/src/http.ts';
import { OpenPlacements } from '../../../client/src/open-placements.ts';
import type { BuiltOrder } from '../../../client/src/order.ts';
import { placeOrders } from '../../../client/src/placement.ts';
import type { Placement } from '../../../client/src/placement-result.ts';
import { defaultRetryPolicy, RetryBudget } from '../../../client/src/retry.ts';
import type { KnownOrder } from './order-reads.ts';

/** The end of a request without an answer in time. */
export class NoResponse extends Error {}

/** Requests of a client to the exchange. Both reject with `NoResponse`. */
export interface OrderRoutes<Order> {
  /** A result for each order, in their order. */
  place(orders: readonly Order[], timeoutMs: number): Promise<readonly PlacementResult[]>;
  /** Null while the log has nothing of the order. */
  read(orderId: OrderId): Promise<KnownOrder | null>;
}

const timeoutMs = 6_000;
const readPath = '/data/order/';

/** Placements as the client in TypeScript makes them: its retries, its doubt, its questions to the log. */
export class OrderClient<Order> {
  readonly #routes: OrderRoutes<Order>;
  readonly placements = new OpenPlacements();
  readonly timeoutMs = timeoutMs;

  constructor(routes: OrderRoutes<Order>) {
    this.#routes = routes;
  }

  /** Places orders; the result of each as the client reports it, null where the client does not know it. */
  async place(orders: ReadonlyMap<OrderId, Order>): Promise<readonly (Placement | null)[]> {
    const built = [...orders].map(([orderId, submission]) => ({ orderId, submission }));
    const connection = this as unknown as Connection;
    const retryBudget = new RetryBudget(defaultRetryPolicy);
    const place = this.placements.run({ retryBudget, tokenIds: [] }, (call) =>
      placeOrders(connection, built as unknown as BuiltOrder[], { route: '/orders', call }),
    );
    return await place.catch((error: unknown) => {
      if (error instanceof UnresolvedOrdersError) return error.results as (Placement | null)[];
      throw error;
    });
  }

  /** As `Connection.signedOnce`. */
  async signedOnce({ body }: HttpRequest, sending: Sending): Promise<readonly PlacementResult[]> {
    sending.onSend?.();
    const orders = body as unknown as readonly Order[];
    return await this.#routes.place(orders, sending.timeoutMs ?? timeoutMs).catch(noAnswer);
  }

  /** As `Connection.readOwn`, of one order. */
  async readOwn(path: string): Promise<unknown> {
    const id = path.slice(readPath.length) as OrderId;
    const known = await this.#routes.read(id).catch(noAnswer);
    if (known?.kind === 'accepted') {
      const { status, code } = known;
      return { id, status, code, size_matched: '0', associate_trades: [] };
    }
    const code = known?.code ?? 'order_not_found';
    throw new ExchangeError(404, { error: code, code });
  }
}

function noAnswer(cause: unknown): never {
  if (!(cause instanceof NoResponse)) throw cause;
  throw new ExchangeError(0, { error: 'no answer', code: 'no_answer' }, { cause });
}
