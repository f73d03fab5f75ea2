import type { OrderId } from '@pm/schemas';
import type { RetryBudget } from './retry.ts';
import { Unresolved } from './unresolved.ts';

/** A call that places orders, from its beginning to its last result. */
export class PlacementCall {
  /** Also of what it signs and reads. */
  readonly retryBudget: RetryBudget;
  /** Orders that were sent and have no definite result: they may be on the log or come to it. */
  readonly inTransit = new Set<OrderId>();
  readonly #ending = new AbortController();

  constructor(retryBudget: RetryBudget) {
    this.retryBudget = retryBudget;
  }

  /** Aborts once nothing of the call may be sent any more. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  end(): void {
    this.#ending.abort();
  }
}

/** The calls of a client that place orders, so that a later cancel of all orders is not overtaken by one that waits. */
export class OpenPlacements {
  readonly #calls = new Set<PlacementCall>();
  /** When an attempt of each was lost last, monotonic milliseconds. */
  readonly #unresolved = new Unresolved<OrderId, number>();

  /** Runs a call that `endAll` can end. */
  async run<T>(retryBudget: RetryBudget, place: (call: PlacementCall) => Promise<T>): Promise<T> {
    const call = new PlacementCall(retryBudget);
    this.#calls.add(call);
    try {
      return await place(call);
    } finally {
      this.#calls.delete(call);
    }
  }

  /**
   * Orders that wait to be sent, first or again, are not sent. Returns what cannot be ended so: a look at the orders
   * that were sent and still have no definite result.
   */
  endAll(): () => OrderId[] {
    const ended = [...this.#calls];
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
