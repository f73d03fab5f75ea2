import { present } from '@pm/kit/assert';
import { Fault } from '@pm/kit/fault';
import type { LogProducer } from '@pm/kit/kafka';
import { topics } from '@pm/schemas/log/topics';
import type { DeadLetters, Rejected } from './dead-letters.io.ts';
import type { OutputPlaces } from './output-places.io.ts';
import type { OutputSeals } from './output-seals.ts';
import type { OutputRecord } from './record-processor.ts';
import { type RetryRules, sendWithRetry } from './send-with-retry.io.ts';
import type { TakenSnapshot } from './snapshot-schedule.io.ts';

/** Outputs of consecutive inputs that are sent together. */
export interface OutputSlice {
  readonly outputs: readonly OutputRecord[];
  readonly rejected: readonly Rejected[];
  /** The state right after the slice, when a snapshot is due. */
  readonly snapshot: TakenSnapshot | null;
}

/** Bounds of the slices that wait for the one in flight, and of those that are sent together. */
export interface WriterLimits {
  /** Slices that are not durable; one that comes at this number waits. */
  readonly slicesMax: number;
  /**
   * Bytes of outputs in slices that are not durable; a slice beyond this number waits. A single slice may exceed it.
   */
  readonly bytesMax: number;
  /** Outputs and bytes of one send, where it holds more than one slice; what one request of the producer takes. */
  readonly sendOutputsMax: number;
  readonly sendBytesMax: number;
}

export const defaultWriterLimits: WriterLimits = {
  slicesMax: 8,
  bytesMax: 4 * 1_024 * 1_024,
  sendOutputsMax: 1_000,
  sendBytesMax: 900 * 1_024,
};

export interface ExecutionWriterParts {
  readonly producer: Pick<LogProducer, 'send'>;
  readonly deadLetters: DeadLetters;
  readonly topic: string;
  readonly partition: number;
  readonly retry: RetryRules;
  readonly limits: WriterLimits;
  readonly seals: Pick<OutputSeals, 'seal'>;
  readonly places: Pick<OutputPlaces, 'check'>;
  /**
   * The outputs of a slice are durable, milliseconds after they were pushed; the last one has this offset of
   * `executions`.
   */
  onStored(slice: OutputSlice, lastOffset: number, tookMs: number): void;
  /** A slice failed, or its outcome is unknown; called once, nothing is sent after it. */
  onFault(error: unknown): void;
}

/** Bytes of a record in a batch beside its value, at most. */
const frameBytes = 1_024;
const outputBytesMax = topics.executions.maxMessageBytes - frameBytes;

/** A slice that is not durable yet. */
interface Waiting {
  readonly slice: OutputSlice;
  readonly bytes: number;
  /** Milliseconds of `performance.now()`. */
  readonly pushedAtMs: number;
}

/**
 * Writes outputs in order: one send is in flight, and what is computed meanwhile goes together into the next one. After
 * a failure nothing more is written, so that an output never overtakes the one before.
 */
export class ExecutionWriter {
  readonly #parts: ExecutionWriterParts;
  readonly #waiting: Waiting[] = [];
  /** Slices and bytes that are not durable. */
  #slices = 0;
  #bytes = 0;
  /** Ends with the send in flight, and never rejects. */
  #inFlight: Promise<void> | null = null;
  #sending: readonly Waiting[] = [];
  #isRetired = false;
  #failure: unknown = null;

  constructor(parts: ExecutionWriterParts) {
    this.#parts = parts;
  }

  /** Slices that are not durable. */
  get queuedSlices(): number {
    return this.#slices;
  }

  /** Resolves when there is room for the slice. Throws the failure of an earlier one. */
  async push(slice: OutputSlice): Promise<void> {
    for (const output of slice.outputs) this.#assertFits(output);
    const bytes = slice.outputs.reduce((sum, { value }) => sum + value.length, 0);
    while (this.#inFlight !== null && !this.#hasRoom(bytes)) await this.#inFlight;
    this.#assertSound();
    this.#waiting.push({ slice, bytes, pushedAtMs: performance.now() });
    this.#slices += 1;
    this.#bytes += bytes;
    if (this.#inFlight === null) this.#sendNext();
  }

  /** Resolves when every pushed slice is durable; throws the failure of the first that is not. */
  async stored(): Promise<void> {
    while (this.#inFlight !== null) await this.#inFlight;
    this.#assertSound();
  }

  /**
   * Sends nothing more, and reports nothing more of the send in flight. Gives the slices that are not known to be
   * durable, in order.
   */
  retire(): readonly OutputSlice[] {
    this.#isRetired = true;
    const left = [...this.#sending, ...this.#waiting].map(({ slice }) => slice);
    this.#waiting.length = 0;
    return left;
  }

  #assertSound(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  #hasRoom(bytes: number): boolean {
    const { slicesMax, bytesMax } = this.#parts.limits;
    return this.#slices < slicesMax && this.#bytes + bytes <= bytesMax;
  }

  #sendNext(): void {
    const group = this.#failure === null ? this.#nextGroup() : [];
    this.#inFlight = group.length === 0 ? null : this.#send(group).finally(() => this.#sendNext());
  }

  /** The longest run of waiting slices that one send takes; at least one if any waits. */
  #nextGroup(): readonly Waiting[] {
    const { sendOutputsMax, sendBytesMax } = this.#parts.limits;
    let [count, outputs, bytes] = [0, 0, 0];
    for (const waiting of this.#waiting) {
      outputs += waiting.slice.outputs.length;
      bytes += waiting.bytes;
      if (count > 0 && (outputs > sendOutputsMax || bytes > sendBytesMax)) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Never rejects: the failure is stored and reported once. */
  async #send(group: readonly Waiting[]): Promise<void> {
    const { producer, deadLetters, topic, partition, seals, retry, onFault } = this.#parts;
    const outputs = group.flatMap(({ slice }) => slice.outputs);
    this.#sending = group;
    try {
      // First the dead letters: once the output is stored, no replay would send them again.
      for (const { slice } of group) await deadLetters.send(partition, slice.rejected);
      const records = outputs.map(({ value }) =>
        seals.seal({ topic, partition, key: null, value }),
      );
      const places = await sendWithRetry(producer, records, retry);
      if (this.#isRetired) return;
      await this.#parts.places.check(outputs, places);
      if (this.#isRetired) return;
      this.#sending = [];
      this.#stored(group, present(places[0], 'the place of the first output').offset);
    } catch (error) {
      if (this.#isRetired) return;
      this.#failure = error;
      onFault(error);
    }
  }

  /** The outputs of the group are stored together, from this offset on. */
  #stored(group: readonly Waiting[], firstOffset: number): void {
    let next = firstOffset;
    for (const { slice, bytes, pushedAtMs } of group) {
      next += slice.outputs.length;
      this.#slices -= 1;
      this.#bytes -= bytes;
      this.#parts.onStored(slice, next - 1, performance.now() - pushedAtMs);
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
