import type { OrderId } from '@pm/schemas';
import { isLasting, type OrderResult } from '../orders/order-result.ts';

/** Results kept; about 500 bytes each. */
const resultsMax = 100_000;

interface Kept {
  readonly result: OrderResult;
  readonly partition: number;
  readonly readAtMs: number;
}

/** The matcher takes orders signed up to this far ahead of its clock, milliseconds. */
const signedAheadMaxMs = 300_000;

/**
 * The newest results by order id, of every ingress, so that a repeated order whose money is spent by now still gets its
 * first result. Full, it forgets the oldest; and it knows what it may have forgotten.
 */
export class RecentResults {
  readonly #kept = new Map<OrderId, Kept>();
  readonly #max: number;
  readonly #nowMs: () => number;
  /** Every lasting result since then is here. */
  #completeSinceMs: number;

  /** `nowMs` is the wall clock; results from before this call are not known. */
  constructor(nowMs: () => number, max = resultsMax) {
    this.#nowMs = nowMs;
    this.#max = max;
    this.#completeSinceMs = nowMs();
  }

  get size(): number {
    return this.#kept.size;
  }

  recall(orderId: OrderId): OrderResult | undefined {
    return this.#kept.get(orderId)?.result;
  }

  partitionOf(orderId: OrderId): number | undefined {
    return this.#kept.get(orderId)?.partition;
  }

  /** Whether an order signed then may have a result that is not here. */
  mayHaveForgotten(signedAtMs: number): boolean {
    return signedAtMs - signedAheadMaxMs <= this.#completeSinceMs;
  }

  /** Keeps a first result that will not change. */
  keep(result: OrderResult, partition: number): void {
    if (!isLasting(result) || this.#kept.has(result.orderId)) return;
    if (this.#kept.size >= this.#max) this.#forgetOldest();
    this.#kept.set(result.orderId, { result, partition, readAtMs: this.#nowMs() });
  }

  #forgetOldest(): void {
    const oldest = this.#kept.entries().next().value;
    if (oldest === undefined) return;
    const [orderId, { readAtMs }] = oldest;
    this.#kept.delete(orderId);
    this.#completeSinceMs = Math.max(this.#completeSinceMs, readAtMs);
  }
}
