import type { OrderId } from '@pm/schemas';
import { isLasting, type PlacementAnswer } from '../core/placement-answer.ts';

/** Answers kept; about 500 bytes each. */
const answersMax = 100_000;

interface Kept {
  readonly answer: PlacementAnswer;
  readonly partition: number;
}

/**
 * The newest answers by order id, of every ingress, so that a repeated order whose money is spent by now still gets its
 * first answer. Full, it forgets the oldest.
 */
export class AnswerMemory {
  readonly #kept = new Map<OrderId, Kept>();
  readonly #max: number;

  constructor(max = answersMax) {
    this.#max = max;
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

  /** Keeps a first answer that will not change. */
  keep(answer: PlacementAnswer, partition: number): void {
    if (!isLasting(answer) || this.#kept.has(answer.orderId)) return;
    if (this.#kept.size >= this.#max) {
      const oldest = this.#kept.keys().next().value;
      if (oldest !== undefined) this.#kept.delete(oldest);
    }
    this.#kept.set(answer.orderId, { answer, partition });
  }
}
