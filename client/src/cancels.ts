import type { FoundOrder } from '@pm/schemas/http/batches';
import { orderIdsPerRequestMax } from '@pm/schemas/http/private-reading';
import type { BookSnapshot } from '@pm/schemas/http/reading';
import { type CancelResult, cancelsPerRequestMax } from '@pm/schemas/http/trading';
import type { OrderId } from '@pm/schemas/ids';
import { type RefusalCode, refusals } from '@pm/schemas/refusals';
import type { Connection } from './connection.ts';
import { ExchangeError, isPassing, leavesOpen, provesNothingDone } from './errors.ts';
import type { HttpRequest } from './http.ts';
import type { PlacementCall } from './open-placements.ts';
import { noRetries, RetryBudget } from './retry.ts';

/** A market by its condition, or one of its tokens. */
export interface MarketFilter {
  readonly market?: string;
  readonly asset_id?: string;
}

/** Result of a cancel of many orders: the orders that it canceled, and those that it may not have canceled. */
export type CancelAllResult = CancelResult & {
  /**
   * Orders that this client sent before and of which neither had a definite result by then. Each was canceled by its id
   * too, so one that reaches the exchange within 2 s is refused as `fenced`; after that it is booked. The call that
   * placed each returns or throws what became of it.
   */
  readonly in_transit: readonly OrderId[];
  /**
   * False when a try may have canceled orders that its response does not name, as when it was lost, or when the cancel
   * by ids was not confirmed: then `canceled` may lack orders that were canceled. None of them rests.
   */
  readonly complete: boolean;
};

/** Reasons to send an id again: its cancel is unconfirmed, or was not sent. */
const passingCodes: ReadonlySet<string> = new Set<RefusalCode>([
  'cancel_unconfirmed',
  'partition_not_ready',
  'overloaded',
]);

/** The reason of orders that an earlier try may have canceled. */
const endedCodes: ReadonlySet<string> = new Set<RefusalCode>(['order_not_found']);

/** The end of an order that a cancel stopped on its way: it never trades. */
const stoppedCode: RefusalCode = 'fenced';

/** How long the market of a token is asked for before a cancel goes, milliseconds, its wait for a turn included. */
const marketOfWithinMs = 1_000;

/**
 * The cancels of a client. Each ends the placements that wait before it is sent, so that none of them comes after it;
 * unconfirmed cancels are repeated within the retry budget, and the result has what each try has canceled.
 */
export class Cancels {
  readonly #connection: Connection;
  readonly #marketOf = new Map<string, string>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async cancelOne(orderID: string): Promise<CancelResult> {
    this.#endByIds([orderID]);
    const retryBudget = this.#connection.retryBudget('canceling');
    const sent = { method: 'DELETE', path: '/order', body: { orderID } } as const;
    const tried = nothingTried();
    await this.#send(sent, retryBudget, tried);
    await this.#nameEnds(retryBudget, tried);
    return tried.result;
  }

  /** Cancels up to 3,000 orders by id. */
  async cancelByIds(orderIds: readonly string[]): Promise<CancelResult> {
    if (orderIds.length === 0 || orderIds.length > cancelsPerRequestMax) {
      throw new RangeError(`1 to ${cancelsPerRequestMax} orders go into a request`);
    }
    this.#endByIds(orderIds);
    const tried = nothingTried();
    await this.#cancelIds(orderIds, this.#connection.retryBudget('canceling'), tried);
    return tried.result;
  }

  async cancelMarket(filter: MarketFilter): Promise<CancelAllResult> {
    const retryBudget = this.#connection.retryBudget('canceling');
    const tokenIds = await this.#tokensOf(filter, retryBudget);
    const isMeant = (call: PlacementCall) => call.tokenIds.some((id) => tokenIds.has(id));
    const sent = { method: 'DELETE', path: '/cancel-market-orders', body: filter } as const;
    return await this.#cancelMany(isMeant, sent, retryBudget);
  }

  cancelAll(): Promise<CancelAllResult> {
    const sent = { method: 'DELETE', path: '/cancel-all' } as const;
    return this.#cancelMany(() => true, sent, this.#connection.retryBudget('canceling'));
  }

  #endByIds(orderIds: readonly string[]): void {
    const ids = orderIds.map((id) => id.toLowerCase());
    this.#connection.placements.end((call) => ids.some((id) => call.orderIds.has(id)));
  }

  /** Orders that are on their way when the others are canceled are canceled by id, which fences them. */
  async #cancelMany(
    isMeant: (call: PlacementCall) => boolean,
    sent: HttpRequest,
    retryBudget: RetryBudget,
  ): Promise<CancelAllResult> {
    const inTransit = this.#connection.placements.end(isMeant);
    const tried = nothingTried();
    await this.#send(sent, retryBudget, tried);
    const left = inTransit();
    if (left.length > 0) await this.#cancelToo(left, retryBudget, tried);
    const { result, isOpen } = tried;
    const done = new Set(result.canceled);
    const in_transit = inTransit().filter((id) => !done.has(id));
    return { ...result, in_transit, complete: !isOpen };
  }

  /** The others are canceled, so a failure is no error of the call: the result says what may come. */
  async #cancelToo(
    orderIds: readonly OrderId[],
    retryBudget: RetryBudget,
    tried: Tried,
  ): Promise<void> {
    const byIds = nothingTried();
    try {
      await this.#cancelIds(orderIds, retryBudget, byIds);
    } catch {
      byIds.isOpen = true;
    }
    tried.result = merge(tried.result, { ...nothing, canceled: byIds.result.canceled });
    tried.isOpen ||= byIds.isOpen;
  }

  async #cancelIds(
    orderIds: readonly string[],
    retryBudget: RetryBudget,
    tried: Tried,
  ): Promise<void> {
    const left = () => idsWith(passingCodes, tried.result);
    await this.#send(requestFor(orderIds), retryBudget, tried);
    while (left().length > 0 && (await retryBudget.next(null))) {
      tried.isOpen = true;
      if (!(await this.#sendAgain(left(), retryBudget, tried))) break;
    }
    await this.#nameEnds(retryBudget, tried);
    tried.isOpen ||= left().length > 0;
  }

  /** False after a failure that may pass, which has ended the budget: each order has the reason of the try before. */
  async #sendAgain(
    orderIds: readonly string[],
    retryBudget: RetryBudget,
    tried: Tried,
  ): Promise<boolean> {
    try {
      await this.#send(requestFor(orderIds), retryBudget, tried);
      return true;
    } catch (error) {
      const isUnsent = error instanceof ExchangeError && provesNothingDone(error.code);
      if (!isUnsent && !isPassing(error)) throw error;
      return false;
    }
  }

  /**
   * Orders that had ended before the last try, and of which the log says that a cancel of their owner ended them, are
   * canceled: an earlier try may have done it. Those that a cancel stopped on their way are `fenced`, as in the
   * response that was lost. Those that cannot be read within the retry budget stay as they are.
   */
  async #nameEnds(retryBudget: RetryBudget, tried: Tried): Promise<void> {
    const ended = tried.isOpen ? idsWith(endedCodes, tried.result) : [];
    for (let from = 0; from < ended.length; from += orderIdsPerRequestMax) {
      const ids = ended.slice(from, from + orderIdsPerRequestMax);
      tried.result = merge(tried.result, await this.#endsByLog(ids, retryBudget));
    }
  }

  /**
   * Results of cancels of orders by their owner, read from the log; an empty result where the orders cannot be read.
   */
  async #endsByLog(orderIds: readonly string[], retryBudget: RetryBudget): Promise<CancelResult> {
    const body = orderIds.map((orderId) => ({ orderId }));
    const sent = { method: 'POST', path: '/data/orders', body } as const;
    const once = { repeatable: 'never', retryBudget, endsWithBudget: true } as const;
    try {
      return endsIn(await this.#connection.signed<readonly FoundOrder[]>(sent, once));
    } catch {
      return nothing;
    }
  }

  /**
   * Sends a cancel. Orders that its tries have canceled are in `tried`, and in the body of the error when the last try
   * fails.
   */
  async #send(sent: HttpRequest, retryBudget: RetryBudget, tried: Tried): Promise<void> {
    const onFailure = (error: ExchangeError): void => {
      tried.result = merge(tried.result, { ...nothing, canceled: canceledIn(error.body) });
      tried.isOpen ||= leavesOpen(error) || passingCodes.has(error.code);
    };
    try {
      const result = await this.#connection.signed<CancelResult>(sent, { retryBudget, onFailure });
      tried.result = merge(tried.result, result);
    } catch (error) {
      const { canceled } = tried.result;
      if (!(error instanceof ExchangeError) || canceled.length === 0) throw error;
      const { status, body, retryAfterSeconds, headers } = error;
      const whole = { ...(body as object | null), canceled };
      throw new ExchangeError(status, whole, { retryAfterSeconds, headers, cause: error });
    }
  }

  /** Tokens of calls that are of the market, or whose market is not known in time. */
  async #tokensOf(
    { market, asset_id: asset }: MarketFilter,
    { leftMs }: RetryBudget,
  ): Promise<ReadonlySet<string>> {
    const open = [...this.#connection.placements.tokenIds];
    if (asset !== undefined && /^[0-9]+$/.test(asset)) return new Set([asset]);
    const condition = market || (asset?.split(':')[0] ?? '');
    // The cancel itself has half of a small budget at least.
    const retryBudget = new RetryBudget(noRetries, Math.min(marketOfWithinMs, leftMs / 2));
    const markets = await Promise.all(open.map((id) => this.#readMarket(id, retryBudget)));
    return new Set(open.filter((_, at) => (markets[at] ?? condition) === condition));
  }

  async #readMarket(tokenId: string, retryBudget: RetryBudget): Promise<string | null> {
    const known = this.#marketOf.get(tokenId);
    if (known !== undefined) return known;
    const once = { repeatable: 'never', retryBudget, endsWithBudget: true } as const;
    try {
      const query = { token_id: tokenId };
      const { market } = await this.#connection.read<BookSnapshot>('/book', query, once);
      this.#marketOf.set(tokenId, market);
      return market;
    } catch {
      return null;
    }
  }
}

const nothing: CancelResult = { canceled: [], not_canceled: {} };

/**
 * Orders that the tries of a cancel have canceled, also those of a call that fails, and the reasons for the other
 * orders.
 */
interface Tried {
  /** The newest reason of an order counts. */
  result: CancelResult;
  /** A try may have canceled more than it has named. */
  isOpen: boolean;
}

function nothingTried(): Tried {
  return { result: nothing, isOpen: false };
}

function requestFor(orderIds: readonly string[]): HttpRequest {
  return { method: 'DELETE', path: '/orders', body: orderIds };
}

function merge(before: CancelResult, result: CancelResult): CancelResult {
  const canceled = new Set([...before.canceled, ...result.canceled]);
  const left = (reasons: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(reasons).filter(([id]) => !canceled.has(id)));
  const codes = left({ ...before.not_canceled_codes, ...result.not_canceled_codes });
  return {
    canceled: [...canceled],
    not_canceled: left({ ...before.not_canceled, ...result.not_canceled }),
    ...(Object.keys(codes).length === 0 ? {} : { not_canceled_codes: codes }),
  };
}

function idsWith(codes: ReadonlySet<string>, { not_canceled_codes }: CancelResult): string[] {
  const reasons = Object.entries(not_canceled_codes ?? {});
  return reasons.flatMap(([id, code]) => (codes.has(code) ? [id] : []));
}

/** Results of cancels of orders by their owner, according to the log. */
function endsIn(found: readonly FoundOrder[]): CancelResult {
  const canceled = found.filter(({ order }) => order?.reason === 'user');
  const stopped = found.filter(({ order, code }) => (order?.code ?? code) === stoppedCode);
  const ofStopped = (value: string) =>
    Object.fromEntries(stopped.map(({ order_id }) => [order_id, value]));
  return {
    canceled: canceled.map(({ order_id }) => order_id),
    not_canceled: ofStopped(refusals[stoppedCode].text),
    not_canceled_codes: ofStopped(stoppedCode),
  };
}

function canceledIn(body: unknown): string[] {
  const canceled = (body as Partial<CancelResult> | null)?.canceled;
  return Array.isArray(canceled) ? canceled.filter((id) => typeof id === 'string') : [];
}
