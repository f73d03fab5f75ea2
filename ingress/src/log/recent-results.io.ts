import type { OrderId } from '@pm/schemas';
import { isLasting, type PlacementAnswer } from '../orders/order-result.ts';

/** Answers kept; about 500 bytes each. */
const answersMax = 100_000;

interface Kept {
  readonly answer: PlacementAnswer;
  readonly partition: number;
  readonly heardAtMs: number;
}

/** The matcher takes orders signed up to this far ahead of its clock, milliseconds. */
const signedAheadMaxMs = 300_000;

/**
 * The newest answers by order id, of every ingress, so that a repeated order whose money is spent by now still gets its
 * first answer. Full, it forgets the oldest; and it knows what it may have forgotten.
 */
export class AnswerMemory {
  readonly #kept = new Map<OrderId, Kept>();
  readonly #max: number;
  readonly #nowMs: () => number;
  /** Every lasting answer since is here. */
  #completeSinceMs: number;

  /** `nowMs` is the wall clock; what was answered before this call is not known. */
  constructor(nowMs: () => number, max = answersMax) {
    this.#nowMs = nowMs;
    this.#max = max;
    this.#completeSinceMs = nowMs();
  }

  get size(): number {
    return this.#kept.size;
  }

  recall(orderId: OrderId): PlacementAnswer | undefined {
    return this.#kept.get(orderId)?.answer;
  }

  partitionOf(orderId: OrderId): number | undefined {
    return this.#kept.get(orderId)?.partition;
  }

  /** Whether an order signed then may have been answered without this memory knowing. */
  mayHaveForgotten(signedAtMs: number): boolean {
    return signedAtMs - signedAheadMaxMs <= this.#completeSinceMs;
  }

  /** Keeps a first answer that will not change. */
  keep(answer: PlacementAnswer, partition: number): void {
    if (!isLasting(answer) || this.#kept.has(answer.orderId)) return;
    if (this.#kept.size >= this.#max) this.#forgetOldest();
    this.#kept.set(answer.orderId, { answer, partition, heardAtMs: this.#nowMs() });
  }

  #forgetOldest(): void {
    const oldest = this.#kept.entries().next().value;
    if (oldest === undefined) return;
    const [orderId, { heardAtMs }] = oldest;
    this.#kept.delete(orderId);
    this.#completeSinceMs = Math.max(this.#completeSinceMs, heardAtMs);
  }
}
