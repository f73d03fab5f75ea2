import { present } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import { topics } from '@pm/schemas';
import type { DeadLetters, Rejected } from './dead-letters.io.ts';
import type { OutputPlaces } from './output-places.io.ts';
import type { OutputSeals } from './output-seals.ts';
import type { OutputRecord } from './record-processor.ts';
import { type RetryRules, sendWithRetry } from './send-with-retry.io.ts';
import type { Snapshot } from './snapshot-image.ts';

/** Outputs of consecutive inputs that are sent together. */
export interface OutputSlice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly Rejected[];
  /** The state right after the slice, when a snapshot is due. */
  readonly snapshot: Snapshot | null;
}

export interface ExecutionWriterParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly deadLetters: DeadLetters;
  readonly topic: string;
  readonly partition: number;
  readonly retry: RetryRules;
  readonly seals: Pick<OutputSeals, 'seal'>;
  readonly places: Pick<OutputPlaces, 'check'>;
  /** The outputs of a slice are durable; the last one has this offset of `executions`. */
  onStored(slice: OutputSlice, lastOffset: number): void;
  /** A slice failed, or its outcome is unknown; called once, nothing is sent after it. */
  onFault(error: unknown): void;
}

/** Bytes of a record in a batch beside its value, at most. */
const frameBytes = 1_024;
const outputBytesMax = topics.executions.maxMessageBytes - frameBytes;

/**
 * Writes outputs in order: one slice is in flight, the next may be computed meanwhile. After a failure nothing more is
 * written, so that an output never overtakes the one before.
 */
export class ExecutionWriter {
  readonly #parts: ExecutionWriterParts;
  #inFlight: Promise<void> = Promise.resolve();
  #failure: unknown = null;

  constructor(parts: ExecutionWriterParts) {
    this.#parts = parts;
  }

  /** Resolves when the slice is being sent, after the one before is durable. Throws the failure of the one before. */
  async push(slice: OutputSlice): Promise<void> {
    for (const output of slice.outputs) this.#assertFits(output);
    await this.stored();
    this.#inFlight = this.#send(slice);
  }

  /** Resolves when every pushed slice is durable; throws the failure of the first that is not. */
  async stored(): Promise<void> {
    await this.#inFlight;
    if (this.#failure !== null) throw this.#failure;
  }

  /** Never rejects: the failure is stored and reported once. */
  async #send(slice: OutputSlice): Promise<void> {
    const { producer, deadLetters, topic, partition, seals, retry, onStored, onFault } =
      this.#parts;
    try {
      // First the dead letters: once the output is stored, no replay would send them again.
      await deadLetters.send(partition, slice.rejected);
      const records = slice.outputs.map(({ value }) =>
        seals.seal({ topic, partition, key: null, value }),
      );
      const places = await sendWithRetry(producer, records, retry);
      await this.#parts.places.check(slice.outputs, places);
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
