import type { OrderId } from '@pm/schemas';
import type { PlacementAnswer } from '../orders/order-result.ts';

/** Delayed orders that are followed; the oldest is let go first. */
const followedMax = 20_000;

interface Followed {
  answer: PlacementAnswer | null;
  settle: ((answer: PlacementAnswer) => void) | null;
}

/**
 * Answers of orders that were held by a taker delay first. An order is followed from the moment its delay is heard, so that
 * an answer which comes before anybody asks for it is not lost.
 */
export class DelayedAnswers {
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
    this.#followed.set(orderId, { answer: null, settle: null });
  }

  /** The delay of this order has ended. */
  settle(answer: PlacementAnswer): void {
    const followed = this.#followed.get(answer.orderId);
    if (followed === undefined) return;
    followed.answer = answer;
    followed.settle?.(answer);
  }

  /** The answer at the end of the delay; null when it has not come in time or is not followed. */
  async finalAnswer(orderId: OrderId, waitMs: number): Promise<PlacementAnswer | null> {
    const followed = this.#followed.get(orderId);
    if (followed === undefined) return null;
    const answer = followed.answer ?? (await waitFor(followed, waitMs));
    this.#followed.delete(orderId);
    return answer;
  }
}

function waitFor(followed: Followed, waitMs: number): Promise<PlacementAnswer | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), waitMs);
    followed.settle = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
  });
}
