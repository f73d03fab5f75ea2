import { sealExecution } from '@pm/domain/signoff/records';
import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, LogClient, ReaderOptions } from '@pm/kit/kafka';
import { openRecordCodec } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import { topics } from '@pm/schemas/log/topics';
import { loneReader } from '../../../kit/test/kafka/lone-reader.ts';

export const executionCodec = openRecordCodec(topics.executions.value, 1, async () => null);

/** A log of one partition in memory, with the parts of the client that feeds use. */
export class MemoryClient {
  records: IncomingRecord[] = [];
  readonly #partition: number;
  readonly #readers = new Set<MemoryReader>();
  #chain: Buffer = Buffer.alloc(32);
  /** Readers that were opened. */
  opened = 0;
  /** While true every call of the broker fails. */
  isAway = false;
  /** Readers get the records before this offset; the others are their lag. */
  served = Number.POSITIVE_INFINITY;
  /** The clock of fetches. */
  monotonicMs = (): number => performance.now();

  constructor(partition: number) {
    this.#partition = partition;
  }

  /** The client as its users declare it. */
  get client(): LogClient {
    return this as unknown as LogClient;
  }

  /** Seals and appends an execution, `copies` times more than once. */
  append(execution: Execution, copies = 0): void {
    const { value, chain } = sealExecution(executionCodec, this.#chain, execution);
    this.#chain = chain;
    for (let count = 0; count <= copies; count += 1)
      this.records.push({ offset: this.records.length, key: null, value, timestampMs: 0 });
    this.wake();
  }

  /** Readers go on: more is served. */
  wake(): void {
    for (const reader of this.#readers) reader.wake();
  }

  /** Another log takes the place of this one. */
  clear(): void {
    this.records = [];
    this.#chain = Buffer.alloc(32);
  }

  /** Ends all readers with a fault. */
  fail(fault: Fault): void {
    for (const reader of this.#readers) reader.fail(fault);
  }

  async admin() {
    if (this.isAway) throw new Fault('log_unavailable', 'retry');
    const bounds = async () => new Map([[this.#partition, { low: 0, high: this.records.length }]]);
    return { bounds, close: async () => {} };
  }

  async reader(options: ReaderOptions): Promise<MemoryReader> {
    if (this.isAway) throw new Fault('log_unavailable', 'retry');
    this.opened += 1;
    const reader = new MemoryReader(this, options, this.#partition, () =>
      this.#readers.delete(reader),
    );
    this.#readers.add(reader);
    reader.wake();
    return reader;
  }
}

class MemoryReader {
  readonly #log: MemoryClient;
  readonly #options: ReaderOptions;
  readonly #partition: number;
  readonly #onClose: () => void;
  #position: number;
  #running: Promise<void> | null = null;
  #isClosed = false;
  #atEndMs = Number.NEGATIVE_INFINITY;

  constructor(log: MemoryClient, options: ReaderOptions, partition: number, onClose: () => void) {
    this.#log = log;
    this.#options = options;
    this.#partition = partition;
    this.#onClose = onClose;
    this.#position = options.positions.get(partition) ?? 0;
  }

  wake(): void {
    this.#running ??= this.#deliver();
  }

  fail(fault: Fault): void {
    this.#isClosed = true;
    this.#options.onFault(fault);
  }

  position(): number {
    return this.#position;
  }

  lagRecords(): number {
    return this.#log.records.length - this.#position;
  }

  /** A reader that waits at the end has just asked. */
  atEndMs(): number {
    if (this.lagRecords() === 0) this.#atEndMs = this.#log.monotonicMs();
    return this.#atEndMs;
  }

  share = loneReader.share;
  answeredMs = loneReader.answeredMs;

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#onClose();
  }

  async #deliver(): Promise<void> {
    await Promise.resolve();
    for (;;) {
      const end = Math.min(this.#log.served, this.#log.records.length);
      if (this.#isClosed || this.#position >= end) break;
      const records = this.#log.records.slice(this.#position, Math.min(end, this.#position + 97));
      const { topic } = this.#options;
      const highWatermark = this.#log.records.length;
      try {
        await this.#options.onBatch({ topic, partition: this.#partition, records, highWatermark });
      } catch (error) {
        this.fail(error instanceof Fault ? error : new Fault('handler_failed', 'stop'));
      }
      this.#position += records.length;
      this.atEndMs();
    }
    this.#running = null;
  }
}
