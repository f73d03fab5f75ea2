import type { StoredOrder } from '@pm/schemas/http/reading';
import { ordersPerRequestMax, type PlacementResult } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import type { RefusalCode } from '@pm/schemas/refusals';
import { BookTime } from './book-time.ts';
import type { Connection } from './connection.ts';
import {
  ExchangeError,
  isNotFoundCode,
  isPassing,
  provesNothingDone,
  UnresolvedOrdersError,
} from './errors.ts';
import type { HttpRequest } from './http.ts';
import type { PlacementCall } from './open-placements.ts';
import type { BuiltOrder } from './order.ts';
import type { Placement } from './placement-result.ts';
import { placementOf, refusalOf, refused, SentOrder } from './sent-order.ts';

export interface PlacementOptions {
  /**
   * The order is refused as `too_late` when it reaches the book later than this after its first attempt was sent; later
   * attempts have what is left of it. With it the exchange's own limit of 2 s, too, is that of all attempts, and a
   * cancel of all orders by another process of the wallet covers the attempts after it.
   */
  readonly timeToBookMs?: number;
  /** Default true: a `delayed` order is sent again until it is placed or the retry budget ends. */
  readonly awaitDelayed?: boolean;
}

/** How orders are sent. */
interface Sending extends PlacementOptions {
  readonly route: '/order' | '/orders';
  readonly call: PlacementCall;
  /** Signs what the order of this place of the request means once more; without it a late order stays refused. */
  signAnew?(index: number): Promise<BuiltOrder>;
}

const tooLate: RefusalCode = 'too_late';
const notFound: RefusalCode = 'order_not_found';

/**
 * Sends orders until each has a definite result: the same signed order is one order however often it is sent, so an
 * order without a response, or with a transient refusal, is sent again. A refusal of an order that may be on the log
 * already decides nothing without `GET /data/order/{id}`, also when the retry budget ends. Resolves with as many
 * results in the same order; throws `UnresolvedOrdersError` with the known results when that does not decide either,
 * and `ExchangeError` when the request as a whole is wrong and nothing was sent before. Signs nothing but, by
 * `signAnew`, orders that can never be booked because the exchange was too slow.
 */
export async function placeOrders(
  connection: Connection,
  orders: readonly BuiltOrder[],
  sending: Sending,
): Promise<Placement[]> {
  if (orders.length === 0 || orders.length > ordersPerRequestMax) {
    throw new RangeError(`1 to ${ordersPerRequestMax} orders go into a request`);
  }
  return await new PlacementRun(connection, orders, sending).run();
}

/** The attempts of one call. */
class PlacementRun {
  readonly #connection: Connection;
  readonly #sending: Sending;
  readonly #call: PlacementCall;
  readonly #all: SentOrder[];
  /** The last failure. */
  #cause: unknown = null;
  /** Another attempt would fail like the last one. */
  #isOver = false;
  #maySignAnew: boolean;
  readonly #bookTime: BookTime | null;

  constructor(connection: Connection, orders: readonly BuiltOrder[], sending: Sending) {
    const { placements } = connection;
    this.#connection = connection;
    this.#sending = sending;
    this.#call = sending.call;
    this.#all = orders.map((order) => new SentOrder(order, placements.lostMs(order.orderId)));
    for (const { orderId } of orders) this.#call.orderIds.add(orderId);
    this.#maySignAnew = sending.signAnew !== undefined && sending.timeToBookMs === undefined;
    const { timeToBookMs } = sending;
    this.#bookTime = timeToBookMs === undefined ? null : new BookTime(connection, timeToBookMs);
  }

  async run(): Promise<Placement[]> {
    await this.#sendAll();
    await this.#askUntilKnown();
    await this.#readEnds();
    return this.#conclude();
  }

  /** Sends orders until each has a result, or nothing may be sent any more. */
  async #sendAll(): Promise<void> {
    const { retryBudget, signal } = this.#call;
    for (let tries = 1; ; tries += 1) {
      const waitSeconds = await this.#send(tries);
      if (this.#isOver || signal.aborted) return;
      await this.#readResults(this.#open.filter((sent) => sent.mustReadLog));
      if (this.#open.length === 0 && this.#late.length === 0) return;
      const keepsReserve = this.#doubtful.length > 0;
      if (!(await retryBudget.next(waitSeconds, { signal, keepsReserve }))) return;
      if (signal.aborted) return;
      await this.#signLateAnew();
    }
  }

  /** Where nothing may be sent any more, the log alone decides. */
  async #askUntilKnown(): Promise<void> {
    const { retryBudget } = this.#call;
    do await this.#readResults(this.#doubtful);
    while (this.#doubtful.length > 0 && !this.#isOver && (await retryBudget.next(null)));
  }

  /** Where an end cannot be read, `alive` says that there is one. */
  async #readEnds(): Promise<void> {
    const ended = this.#all.filter(({ mustReadEnd }) => mustReadEnd);
    await Promise.all(
      ended.map(async (sent) => {
        const found = await this.#readLog(sent.order.orderId).catch(() => null);
        if (found !== null) sent.noteEnd(found);
      }),
    );
  }

  get #open(): SentOrder[] {
    return this.#all.filter(({ result }) => result === null);
  }

  get #doubtful(): SentOrder[] {
    return this.#open.filter(({ isDoubtful }) => isDoubtful);
  }

  /**
   * Orders that are too late for their book can never be booked. Where the limit is the exchange's own, it was the
   * exchange that was slow, as after an outage, and not the client.
   */
  get #late(): SentOrder[] {
    return this.#maySignAnew ? this.#all.filter(({ result }) => result?.code === tooLate) : [];
  }

  /** One request for orders without a result; returns the seconds that the exchange requests to wait. */
  async #send(tries: number): Promise<number | null> {
    const open = this.#open;
    const { retryBudget, signal, inTransit } = this.#call;
    const onSend = (): void => {
      for (const { order } of open) inTransit.add(order.orderId);
    };
    const timeoutMs = this.#timeoutMs();
    const options = { tries, retryBudget, signal, timeoutMs, onSend };
    try {
      const body = await this.#connection.signedOnce<unknown>(this.#requestOf(open), options);
      return this.#note(open, Array.isArray(body) ? body : [body]);
    } catch (error) {
      return this.#noteFailure(open, error);
    } finally {
      for (const { order, result, isDoubtful } of open) {
        if (result !== null || !isDoubtful) inTransit.delete(order.orderId);
      }
    }
  }

  #requestOf(open: readonly SentOrder[]): HttpRequest {
    const { route } = this.#sending;
    const submissions = open.map(({ order }) => order.submission);
    const body = route === '/order' ? submissions[0] : submissions;
    return { method: 'POST', path: route, body, headers: this.#bookTime?.headers() ?? {} };
  }

  /** The repetition of an order in doubt leaves half of the time that is left, in which the log can be asked. */
  #timeoutMs(): number {
    const { timeoutMs } = this.#connection;
    if (this.#doubtful.length === 0) return timeoutMs;
    return Math.min(timeoutMs, Math.ceil(this.#call.retryBudget.leftMs / 2));
  }

  #note(open: readonly SentOrder[], results: readonly unknown[]): number | null {
    let waitSeconds: number | null = null;
    for (const [index, sent] of open.entries()) {
      const result = results.length === open.length ? results[index] : null;
      if (!isPlacementResult(result)) {
        this.#cause = new TypeError('as many results as orders are promised');
        sent.noteLost();
        continue;
      }
      sent.note(result, this.#sending.awaitDelayed ?? true);
      if (sent.result === null) {
        waitSeconds = Math.max(waitSeconds ?? 0, result.retry_after_seconds ?? 0);
      }
    }
    return waitSeconds;
  }

  /** A request that failed as a whole: each of its orders gets the same result. */
  #noteFailure(open: readonly SentOrder[], error: unknown): number | null {
    this.#cause = error;
    const isOfOrders = error instanceof ExchangeError && saysWhatBecameOfOrders(error);
    if (!isOfOrders) {
      if (this.#all.every(({ result, isDoubtful }) => result === null && !isDoubtful)) throw error;
      this.#isOver = true;
    }
    if (!(error instanceof ExchangeError)) return null;
    for (const sent of open) sent.noteFailure(error);
    return error.retryAfterSeconds;
  }

  async #signLateAnew(): Promise<void> {
    for (const sent of this.#late) {
      const index = this.#all.indexOf(sent);
      try {
        const order = await this.#sending.signAnew?.(index);
        if (order === undefined) continue;
        this.#call.orderIds.add(order.orderId);
        this.#all[index] = new SentOrder(order, null);
      } catch {
        // It stays too late, and the results of the others are not lost.
        this.#maySignAnew = false;
      }
    }
  }

  async #readResults(asked: readonly SentOrder[]): Promise<void> {
    await Promise.all(
      asked.map(async (sent) => {
        try {
          const found = await this.#readLog(sent.order.orderId);
          if (found === null) sent.noteUnknown();
          else sent.noteLog(found);
        } catch (error) {
          this.#cause = error;
        }
      }),
    );
  }

  /** The order by the log; null when the log does not have it. */
  async #readLog(orderId: OrderId): Promise<Placement | null> {
    const { retryBudget } = this.#call;
    const once = { retryBudget, repeatable: 'never' } as const;
    try {
      const path = `/data/order/${orderId}`;
      const order = await this.#connection.readOwn<StoredOrder | null>(path, {}, once);
      // A page of a proxy says nothing of the order.
      if (order?.id !== orderId) throw new TypeError(`no order in the response to ${path}`);
      return placementOf(order);
    } catch (error) {
      if (!(error instanceof ExchangeError) || error.status !== 404) throw error;
      if (error.code === '' || error.code === notFound) return null;
      // Another 404 is not about the order.
      if (isNotFoundCode(error.code)) throw error;
      return refused(error.code, error.message);
    }
  }

  #conclude(): Placement[] {
    const { placements } = this.#connection;
    for (const sent of this.#all) {
      sent.conclude();
      const { orderId } = sent.order;
      if (sent.result !== null) placements.noteResolved(orderId);
      else if (sent.lostMs !== null) placements.noteUnresolved(orderId, sent.lostMs);
    }
    const results = this.#all.map(({ result }) => result);
    const known = results.filter((result) => result !== null);
    if (known.length === results.length) return known;
    const unresolved = this.#open.map(({ order }) => order);
    throw new UnresolvedOrdersError(unresolved, { results, cause: this.#cause });
  }
}

/** Other failures are of the request: a key that is no key, for example. */
function saysWhatBecameOfOrders(error: ExchangeError): boolean {
  return provesNothingDone(error.code) || refusalOf(error) !== null || isPassing(error);
}

function isPlacementResult(value: unknown): value is PlacementResult {
  return typeof (value as Partial<PlacementResult> | null)?.success === 'boolean';
}
