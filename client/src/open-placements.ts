import type { OrderId } from '@pm/schemas/ids';
import type { RetryBudget } from './retry.ts';
import { Unresolved } from './unresolved.ts';

/** A call that places orders, from its beginning to its last result. */
export class PlacementCall {
  /** Also of what it signs and reads. */
  readonly retryBudget: RetryBudget;
  /** Tokens of its orders. */
  readonly tokenIds: readonly string[];
  /** Orders that it has signed so far. */
  readonly orderIds = new Set<string>();
  /** Orders that were sent and have no definite result: they may be on the log or come to it. */
  readonly inTransit = new Set<OrderId>();
  readonly #ending = new AbortController();

  constructor(retryBudget: RetryBudget, tokenIds: readonly string[]) {
    this.retryBudget = retryBudget;
    this.tokenIds = tokenIds;
  }

  /** Aborts once nothing of the call may be sent any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort();
  }
}

/** The calls of a client that place orders, so that a later cancel is not overtaken by one that waits. */
export class OpenPlacements {
  readonly #calls = new Set<PlacementCall>();
  /** When an attempt of each was lost last, monotonic milliseconds. */
  readonly #unresolved = new Unresolved<OrderId, number>();

  /** Runs a call that `end` can end. */
  async run<T>(
    { retryBudget, tokenIds }: Pick<PlacementCall, 'retryBudget' | 'tokenIds'>,
    place: (call: PlacementCall) => Promise<T>,
  ): Promise<T> {
    const call = new PlacementCall(retryBudget, tokenIds);
    this.#calls.add(call);
    try {
      return await place(call);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Tokens of the orders of all calls. */
  get tokenIds(): ReadonlySet<string> {
    return new Set([...this.#calls].flatMap((call) => call.tokenIds));
  }

  /**
   * Orders of these calls that wait to be sent, first or again, are not sent. Returns what cannot be ended so: a look
   * at the orders that were sent and still have no definite result.
   */
  end(isMeant: (call: PlacementCall) => boolean): () => OrderId[] {
    const ended = [...this.#calls].filter(isMeant);
    for (const call of ended) call.end();
    return () => ended.flatMap(({ inTransit }) => [...inTransit]);
  }

  /**
   * When an attempt of an order was lost last of which an earlier call left open what became, monotonic milliseconds;
   * null of any other order.
   */
  lostMs(orderId: OrderId): number | null {
    return this.#unresolved.get(orderId) ?? null;
  }

  noteUnresolved(orderId: OrderId, lostMs: number): void {
    this.#unresolved.note(orderId, lostMs);
  }

  noteResolved(orderId: OrderId): void {
    this.#unresolved.noteResolved(orderId);
  }
}
