import { streamLimits } from '@pm/schemas/streams/limits';
import type { Message } from './message.ts';
import { itemBytes, type QueuedTotal, type StreamWriter } from './stream-writer.io.ts';
import type { Subscription } from './subscription.io.ts';

/** Live messages of one connection that wait for beginnings, bounded in bytes, and with what waits for all readers. */
export class PendingMessages {
  readonly #writer: Pick<StreamWriter, 'overflow' | 'send'>;
  readonly #total: Pick<QueuedTotal, 'bytes'>;
  #bytes = 0;

  constructor(writer: Pick<StreamWriter, 'overflow' | 'send'>, total: Pick<QueuedTotal, 'bytes'>) {
    this.#writer = writer;
    this.#total = total;
  }

  add(message: Message, subscription: Subscription): void {
    subscription.pending ??= [];
    subscription.pending.push(message);
    this.#count(message.bytes.length + itemBytes);
    if (this.#bytes > streamLimits.queue_bytes) this.#writer.overflow();
  }

  /** Drops what waits of a subscription. */
  drop(subscription: Subscription): readonly Message[] {
    const pending = subscription.pending ?? [];
    subscription.pending = null;
    for (const { bytes } of pending) this.#count(-bytes.length - itemBytes);
    return pending;
  }

  /** Sends what waits after `toSeq`. */
  release(subscription: Subscription, toSeq: number): void {
    for (const message of this.drop(subscription))
      if (message.seq > toSeq) this.#writer.send(message, subscription);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#total.bytes += bytes;
  }
}
