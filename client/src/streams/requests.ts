import type { Subscriber } from './subscription.ts';

/** The request of a subscription, until it was accepted and its first message came. */
interface Request {
  readonly subscription: Subscriber;
  /** When it was sent, or the exchange last showed that it has it: accepted it, listed it, sent a part. */
  aliveAtMs: number;
  isAccepted: boolean;
}

/** Requests of subscriptions on one connection, by the ids of their frames. */
export class Requests {
  readonly #byId = new Map<number, Request>();

  add(id: number, subscription: Subscriber): void {
    this.#byId.set(id, { subscription, aliveAtMs: performance.now(), isAccepted: false });
  }

  /** The subscription that a frame requested. */
  at(id: number): Subscriber | undefined {
    return this.#byId.get(id)?.subscription;
  }

  accept(id: number): void {
    const request = this.#byId.get(id);
    if (request === undefined) return;
    request.isAccepted = true;
    request.aliveAtMs = performance.now();
    if (request.subscription.hasBegun) this.#byId.delete(id);
  }

  /** The exchange is at an accepted request: its timer starts again. */
  renew(subscription: Subscriber): void {
    for (const request of this.#byId.values()) {
      const isOf = request.subscription === subscription && request.isAccepted;
      if (isOf) request.aliveAtMs = performance.now();
    }
  }

  /** Its first message has come. */
  settle(subscription: Subscriber): void {
    for (const [id, request] of this.#byId) {
      if (request.subscription === subscription && request.isAccepted) this.#byId.delete(id);
    }
  }

  has(subscription: Subscriber): boolean {
    return [...this.#byId.values()].some((one) => one.subscription === subscription);
  }

  forget(subscription: Subscriber): void {
    for (const [id, request] of this.#byId) {
      if (request.subscription === subscription) this.#byId.delete(id);
    }
  }

  /** Subscriptions with a request to which the exchange has shown no reaction within `silenceMs`. */
  unanswered(silenceMs: number): readonly Subscriber[] {
    const nowMs = performance.now();
    const late = [...this.#byId.values()].filter(({ aliveAtMs }) => nowMs - aliveAtMs > silenceMs);
    return late.map(({ subscription }) => subscription);
  }

  clear(): void {
    this.#byId.clear();
  }
}
