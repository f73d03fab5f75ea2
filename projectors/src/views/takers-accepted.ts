import type { ExecutionEvent, Fill } from '@pm/schemas/log/executions';

/** When ingress took the takers of a record: the placement behind the fills of a taker says it. */
export class TakersAccepted {
  readonly #events: readonly ExecutionEvent[];
  /** Index of the first placement behind the last fill that was asked for. */
  #placedAt = -1;

  constructor(events: readonly ExecutionEvent[]) {
    this.#events = events;
  }

  /** Unix milliseconds, null where the record does not say it. Fills are asked for in their order. */
  atMs({ takerOrderId }: Fill, index: number): number | null {
    const events = this.#events;
    if (this.#placedAt < index) {
      this.#placedAt = index + 1;
      while (this.#placedAt < events.length && events[this.#placedAt]?.kind !== 'OrderPlaced')
        this.#placedAt += 1;
    }
    const placed = events[this.#placedAt];
    if (placed?.kind !== 'OrderPlaced' || !placed.orderId.equals(takerOrderId)) return null;
    return placed.acceptedAtMs;
  }
}
