import { type OrderId, orderIdFromBytes } from '@pm/schemas/ids';
import type { ExecutionEvent } from '@pm/schemas/log/executions';
import { codecs, partitionCount, topicNames } from '../exchange-facts.ts';
import type { Brokers } from '../kafka/brokers.ts';

/** State of an order in the log: its last state, or why it was refused. */
export type KnownOrder =
  | {
      readonly kind: 'accepted';
      readonly status: 'LIVE' | 'DELAYED' | 'CANCELED';
      /** The refusal that ended its delay, else null. */
      readonly code: string | null;
    }
  | { readonly kind: 'refused'; readonly code: string };

/** `GET /data/order/{id}` as query-api answers it: by the outputs up to the present end of the log. */
export class OrderReads {
  readonly #brokers: Brokers;
  readonly #orders = new Map<OrderId, KnownOrder>();
  readonly #next = new Map<number, { offset: number; input: number }>();

  constructor(brokers: Brokers) {
    this.#brokers = brokers;
  }

  /** Null while the log has nothing of the order. */
  find(orderId: OrderId): KnownOrder | null {
    for (let partition = 0; partition < partitionCount; partition += 1) this.#readOn(partition);
    return this.#orders.get(orderId) ?? null;
  }

  #readOn(partition: number): void {
    const log = this.#brokers.partition(topicNames.executions, partition);
    const next = this.#next.get(partition) ?? { offset: 0, input: 0 };
    this.#next.set(partition, next);
    for (; next.offset < log.highWatermark; next.offset += 1) {
      const value = log.records[next.offset]?.value ?? Buffer.alloc(0);
      const { inOffset, events } = codecs.executions.decode(value);
      // A later owner repeats outputs.
      if (inOffset < next.input) continue;
      next.input = inOffset + 1;
      for (const event of events) this.#take(event);
    }
  }

  #take(event: ExecutionEvent): void {
    if (event.kind === 'OrderPlaced') this.#note(event.orderId, accepted('LIVE'));
    else if (event.kind === 'OrderDelayed') this.#note(event.orderId, accepted('DELAYED'));
    else if (event.kind === 'OrderRefused') this.#refuse(event.orderId, event.code);
  }

  /** A refusal counts only while the order was not accepted; after a delay it ends the order. */
  #refuse(orderId: Buffer, code: string): void {
    const known = this.#orders.get(orderIdFromBytes(orderId));
    if (known === undefined) this.#note(orderId, { kind: 'refused', code });
    else if (known.kind === 'accepted' && known.status === 'DELAYED')
      this.#note(orderId, accepted('CANCELED', code));
  }

  #note(orderId: Buffer, known: KnownOrder): void {
    this.#orders.set(orderIdFromBytes(orderId), known);
  }
}

const accepted = (
  status: 'LIVE' | 'DELAYED' | 'CANCELED',
  code: string | null = null,
): KnownOrder => ({ kind: 'accepted', status, code });
