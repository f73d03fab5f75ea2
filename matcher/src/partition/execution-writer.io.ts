import { present } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import { topics } from '@pm/schemas';
import type { DeadLetterSink, Rejected } from './dead-letters.io.ts';
import type { OutputRecord } from './record-processor.ts';
import { type RetryRules, sendWithRetry } from './send-with-retry.io.ts';
import type { Snapshot } from './snapshot-image.ts';

/** Outputs of consecutive inputs that are sent together. */
export interface Slice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly Rejected[];
  /** State right behind the slice, when a snapshot is due. */
  readonly snapshot: Snapshot | null;
}

export interface ExecutionSinkParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly deadLetters: DeadLetterSink;
  readonly topic: string;
  readonly partition: number;
  readonly retry: RetryRules;
  /** The outputs of a slice are durable; the last one stands at this offset of `executions`. */
  onStored(slice: Slice, lastOffset: number): void;
  /** A slice could not be stored, or nobody knows; called once, nothing is sent after it. */
  onFault(error: unknown): void;
}

/** Room a record takes in a batch beside its value, generously. */
const frameBytes = 1_024;
const outputBytesMax = topics.executions.maxMessageBytes - frameBytes;

/**
 * Writes outputs in order: one slice is in flight, the next may be computed meanwhile. After a failure nothing more is
 * written, so that an output never overtakes the one before.
 */
export class ExecutionSink {
  readonly #parts: ExecutionSinkParts;
  #inFlight: Promise<void> = Promise.resolve();
  #failure: unknown = null;

  constructor(parts: ExecutionSinkParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the slice is on its way, which is after the one before is durable. Throws what that one failed with.
   */
  async push(slice: Slice): Promise<void> {
    for (const output of slice.outputs) this.#assertFits(output);
    await this.stored();
    this.#inFlight = this.#send(slice);
  }

  /** Resolves when all that was pushed is durable; throws what failed. */
  async stored(): Promise<void> {
    await this.#inFlight;
    if (this.#failure !== null) throw this.#failure;
  }

  /** Never rejects: the failure is kept, and told once. */
  async #send(slice: Slice): Promise<void> {
    const { producer, deadLetters, topic, partition, retry, onStored, onFault } = this.#parts;
    try {
      // First the dead letters: once the output is stored, no replay would send them again.
      await deadLetters.send(partition, slice.rejected);
      const records = slice.outputs.map(({ value }) => ({ topic, partition, key: null, value }));
      const places = await sendWithRetry(producer, records, retry);
      onStored(slice, present(places.at(-1), 'the place of the last output').offset);
    } catch (error) {
      this.#failure = error;
      onFault(error);
    }
  }

  #assertFits({ inOffset, value }: OutputRecord): void {
    if (value.length <= outputBytesMax) return;
    const { topic, partition } = this.#parts;
    throw new Fault('output_too_large', 'release', {
      facts: { topic, partition, inOffset, bytes: value.length, bytesMax: outputBytesMax },
    });
  }
}
