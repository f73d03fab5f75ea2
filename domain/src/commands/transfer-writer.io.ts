import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import type { Transfer } from '@pm/schemas/log/accounts';
import { isCertainlyUnsent } from './envelope-sender.io.ts';

export interface TransferWriterOptions {
  readonly producer: Pick<LogProducer, 'send'>;
  /** The topic `transfers` as the broker calls it. */
  readonly topic: string;
  readonly codec: Pick<RecordCodec<Transfer>, 'encode'>;
}

/** Writes one transfer at a time, and returns whether it is durable, was not sent, or is unknown. */
export class TransferWriter {
  readonly #options: TransferWriterOptions;

  constructor(options: TransferWriterOptions) {
    this.#options = options;
  }

  async write(transfer: Transfer): Promise<'written' | 'unsent' | 'unknown'> {
    const { producer, topic, codec } = this.#options;
    const record = { topic, partition: 0, key: transfer.wallet, value: codec.encode(transfer) };
    try {
      const places = await producer.send([record]);
      return places.length === 1 ? 'written' : 'unknown';
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return isCertainlyUnsent(error) ? 'unsent' : 'unknown';
    }
  }
}
