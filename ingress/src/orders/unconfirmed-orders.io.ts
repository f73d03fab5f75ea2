import type { PartitionLiveness } from '@pm/domain/commands/partition-liveness';
import type { RecentResults } from '@pm/domain/commands/recent-results-cache';
import { cancelSend, type Reservations } from '@pm/domain/orders/reservation.io';
import type { Log } from '@pm/kit/log';
import { runRounds } from '@pm/kit/rounds';
import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { SentOrder } from './command.ts';
import { isCertainlyLate, type LogQuestions, settleLateOrder } from './settle-late-order.io.ts';

export interface UnconfirmedOrdersOptions extends LogQuestions {
  readonly ledger: Pick<Reservations, 'reserve' | 'cancelReservation'>;
  readonly partitions: Pick<PartitionLiveness, 'at' | 'isReady'>;
  readonly recentResults: Pick<RecentResults, 'recall'>;
  readonly log: Log;
}

/** Orders that are followed; the oldest is forgotten first, and then only its owner asks for it. */
const followedMax = 20_000;

/** Orders that are asked for at the same time. */
const askedAtOnce = 128;

/** Pauses after a round, and after one that failed, milliseconds. */
const pauseMs = 1_000;
const pauseAfterFailureMs = 5_000;

/**
 * Orders whose results did not come in time. Each one is followed until the log has a result of it: an order that was
 * sent and never came to the log goes there once more, too late for its book, so that it ends with one reason that
 * every reader finds.
 */
export class UnconfirmedOrders {
  readonly #options: UnconfirmedOrdersOptions;
  readonly #max: number;
  readonly #orders = new Map<OrderId, SentOrder>();

  constructor(options: UnconfirmedOrdersOptions, max = followedMax) {
    this.#options = options;
    this.#max = max;
  }

  get size(): number {
    return this.#orders.size;
  }

  follow(sent: SentOrder): void {
    const [oldest] = this.#orders.keys();
    if (this.#orders.size >= this.#max && oldest !== undefined) this.#orders.delete(oldest);
    this.#orders.set(orderIdFromBytes(sent.order.orderId), sent);
  }

  /** Asks for the orders that can be asked for; resolves with the pause before the next round, milliseconds. */
  async round(): Promise<number> {
    for (const id of this.#orders.keys()) {
      if (this.#options.recentResults.recall(id) !== undefined) this.#orders.delete(id);
    }
    const { partitions } = this.#options;
    const asked = [...this.#orders].filter(
      ([, sent]) => partitions.isReady(sent.partition) && isCertainlyLate(sent, partitions),
    );
    const now = asked.slice(0, askedAtOnce);
    // Behind the others: those of a partition that gives no answer keep no other order waiting.
    for (const [id, sent] of now) {
      this.#orders.delete(id);
      this.#orders.set(id, sent);
    }
    await Promise.all(now.map(([id, sent]) => this.#ask(id, sent)));
    return pauseMs;
  }

  /** Rounds until `close`. */
  start(): { close(): Promise<void> } {
    return runRounds({
      round: () => this.round(),
      onFailure: (error) => {
        this.#options.log.warn({ err: error }, 'unconfirmed orders were not asked for');
        return pauseAfterFailureMs;
      },
    });
  }

  async #ask(id: OrderId, sent: SentOrder): Promise<void> {
    const { ledger } = this.#options;
    const answer = await settleLateOrder(sent, this.#options);
    if (typeof answer === 'string') return;
    if (answer.result.kind === 'executed') this.#orders.delete(id);
    if (answer.result.kind === 'unsent') await cancelSend(answer.reserved.send, ledger);
  }
}
