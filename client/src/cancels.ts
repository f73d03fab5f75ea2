import {
  type BookSnapshot,
  type CancelResult,
  cancelsPerRequestMax,
  type OrderId,
  type RefusalCode,
  refusals,
} from '@pm/schemas';
import type { Connection } from './connection.ts';
import { ExchangeError } from './errors.ts';
import type { HttpRequest } from './http.ts';
import type { PlacementCall } from './open-placements.ts';
import type { RetryBudget } from './retry.ts';

/** A market by its condition, or one of its tokens. */
export interface MarketFilter {
  readonly market?: string;
  readonly asset_id?: string;
}

/** What a cancel of many orders canceled, and what it may not have. */
export type CancelAllResult = CancelResult & {
  /**
   * Orders that this client sent before and of which neither had a definite result by then. Each was canceled by its id
   * too, so one that reaches the exchange within 2 s is refused as `fenced`; after that it is booked. The call that
   * placed each returns or throws what became of it.
   */
  readonly in_transit: readonly OrderId[];
};

/** Reasons in `not_canceled` that may change: the cancel is not confirmed yet. */
const passingTexts = new Set(
  (['cancel_unconfirmed', 'partition_not_ready'] satisfies RefusalCode[]).map(
    (code) => refusals[code].text,
  ),
);

/** How long the market of a token is asked for before a cancel goes, milliseconds. */
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

  cancelOne(orderID: string): Promise<CancelResult> {
    this.#endByIds([orderID]);
    return this.#send({ method: 'DELETE', path: '/order', body: { orderID } });
  }

  /**
   * Cancels up to 3,000 orders by id. An order whose cancel was carried out while the response was lost is in
   * `not_canceled` as already canceled or matched: it does not rest any more.
   */
  async cancelByIds(orderIds: readonly string[]): Promise<CancelResult> {
    if (orderIds.length === 0 || orderIds.length > cancelsPerRequestMax) {
      throw new RangeError(`1 to ${cancelsPerRequestMax} orders go into a request`);
    }
    this.#endByIds(orderIds);
    return await this.#cancelIds(orderIds, this.#connection.retryBudget());
  }

  async cancelMarket(filter: MarketFilter): Promise<CancelAllResult> {
    const retryBudget = this.#connection.retryBudget();
    const tokenIds = await this.#tokensOf(filter);
    const isMeant = (call: PlacementCall) => call.tokenIds.some((id) => tokenIds.has(id));
    const sent = { method: 'DELETE', path: '/cancel-market-orders', body: filter } as const;
    return await this.#cancelMany(isMeant, sent, retryBudget);
  }

  cancelAll(): Promise<CancelAllResult> {
    const sent = { method: 'DELETE', path: '/cancel-all' } as const;
    return this.#cancelMany(() => true, sent, this.#connection.retryBudget());
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
    const result = await this.#send(sent, retryBudget);
    const left = inTransit();
    if (left.length === 0) return { ...result, in_transit: left };
    // The others are canceled: where this fails, the result says what may come.
    const byIds = await this.#cancelIds(left, retryBudget).catch(() => null);
    const canceled = [...new Set([...result.canceled, ...(byIds?.canceled ?? [])])];
    const done = new Set(canceled);
    return { ...result, canceled, in_transit: inTransit().filter((id) => !done.has(id)) };
  }

  async #cancelIds(orderIds: readonly string[], retryBudget: RetryBudget): Promise<CancelResult> {
    let merged: CancelResult = { canceled: [], not_canceled: {} };
    let open = orderIds;
    for (;;) {
      const result = await this.#send(
        { method: 'DELETE', path: '/orders', body: open },
        retryBudget,
      );
      merged = merge(merged, result);
      open = Object.keys(result.not_canceled).filter((id) =>
        passingTexts.has(result.not_canceled[id] ?? ''),
      );
      if (open.length === 0 || !(await retryBudget.next(null))) return merged;
    }
  }

  /** What earlier tries have canceled is in the result, and in the body of the error when the last one fails. */
  async #send(
    sent: HttpRequest,
    retryBudget = this.#connection.retryBudget(),
  ): Promise<CancelResult> {
    let before: CancelResult = { canceled: [], not_canceled: {} };
    const onFailure = ({ body }: ExchangeError): void => {
      before = merge(before, { canceled: canceledIn(body), not_canceled: {} });
    };
    try {
      const result = await this.#connection.signed<CancelResult>(sent, { retryBudget, onFailure });
      return merge(before, result);
    } catch (error) {
      if (!(error instanceof ExchangeError) || before.canceled.length === 0) throw error;
      const { status, body, retryAfterSeconds } = error;
      const { canceled } = before;
      const whole = { ...(body as object | null), canceled };
      throw new ExchangeError(status, whole, { retryAfterSeconds, cause: error });
    }
  }

  /** Tokens of calls that are of the market, or whose market is not known in time. */
  async #tokensOf({ market, asset_id: asset }: MarketFilter): Promise<ReadonlySet<string>> {
    const open = [...this.#connection.placements.tokenIds];
    if (asset !== undefined && /^[0-9]+$/.test(asset)) return new Set([asset]);
    const condition = market || (asset?.split(':')[0] ?? '');
    const markets = await Promise.all(open.map((id) => this.#readMarket(id)));
    return new Set(open.filter((_, at) => (markets[at] ?? condition) === condition));
  }

  async #readMarket(tokenId: string): Promise<string | null> {
    const known = this.#marketOf.get(tokenId);
    if (known !== undefined) return known;
    const once = { repeatable: 'never', timeoutMs: marketOfWithinMs } as const;
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

function merge(before: CancelResult, result: CancelResult): CancelResult {
  const canceled = new Set([...before.canceled, ...result.canceled]);
  const reasons = Object.entries({ ...before.not_canceled, ...result.not_canceled });
  const left = reasons.filter(([id]) => !canceled.has(id));
  return { canceled: [...canceled], not_canceled: Object.fromEntries(left) };
}

function canceledIn(body: unknown): string[] {
  const canceled = (body as Partial<CancelResult> | null)?.canceled;
  return Array.isArray(canceled) ? canceled.filter((id) => typeof id === 'string') : [];
}
