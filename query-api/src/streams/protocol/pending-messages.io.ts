import { streamLimits } from '@pm/schemas';
import type { Message } from './message.ts';
import type { StreamWriter } from './stream-writer.io.ts';
import type { Subscription } from './subscription.io.ts';

/** Live messages of one connection that wait for beginnings, bounded in bytes. */
export class PendingMessages {
  readonly #writer: Pick<StreamWriter, 'overflow' | 'send'>;
  #bytes = 0;

  constructor(writer: Pick<StreamWriter, 'overflow' | 'send'>) {
    this.#writer = writer;
  }

  add(message: Message, subscription: Subscription): void {
    subscription.pending ??= [];
    subscription.pending.push(message);
    this.#bytes += message.bytes.length;
    if (this.#bytes > streamLimits.queue_bytes) this.#writer.overflow();
  }

  /** Drops what waits of a subscription. */
  drop(subscription: Subscription): readonly Message[] {
    const pending = subscription.pending ?? [];
    subscription.pending = null;
    for (const { bytes } of pending) this.#bytes -= bytes.length;
    return pending;
  }

  /** Sends what waits after `toSeq`. */
  release(subscription: Subscription, toSeq: number): void {
    for (const message of this.drop(subscription))
      if (message.seq > toSeq) this.#writer.send(message, subscription);
  }
}
