import type { OrderId } from '@pm/schemas/ids';
import type { OrderResult } from '../orders/order-result.ts';

/** Delayed orders that are followed; the oldest is dropped first. */
const followedMax = 20_000;

interface Followed {
  result: OrderResult | null;
  settle: ((result: OrderResult) => void) | null;
}

/**
 * Results of orders that were held by a taker delay first. An order is followed from the moment its delay is read, so
 * that a result which comes before a request waits for it is not lost.
 */
export class DelayedResults {
  readonly #followed = new Map<OrderId, Followed>();
  readonly #max: number;

  constructor(max = followedMax) {
    this.#max = max;
  }

  get size(): number {
    return this.#followed.size;
  }

  follow(orderId: OrderId): void {
    if (this.#followed.size >= this.#max) {
      const oldest = this.#followed.keys().next().value;
      if (oldest !== undefined) this.#followed.delete(oldest);
    }
    this.#followed.set(orderId, { result: null, settle: null });
  }

  /** The delay of this order has ended. */
  settle(result: OrderResult): void {
    const followed = this.#followed.get(result.orderId);
    if (followed === undefined) return;
    followed.result = result;
    followed.settle?.(result);
  }

  /** The result at the end of the delay; null when it has not come in time or is not followed. */
  async finalResult(orderId: OrderId, waitMs: number): Promise<OrderResult | null> {
    const followed = this.#followed.get(orderId);
    if (followed === undefined) return null;
    const result = followed.result ?? (await waitFor(followed, waitMs));
    this.#followed.delete(orderId);
    return result;
  }
}

function waitFor(followed: Followed, waitMs: number): Promise<OrderResult | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), waitMs);
    followed.settle = (result) => {
      clearTimeout(timer);
      resolve(result);
    };
  });
}
