import { Fault } from '@pm/kit/fault';
import type { IncomingRecord, PartitionBounds, RecordBatch } from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import { AvroError, type Execution } from '@pm/schemas';

/** A piece of one partition: offsets [from, to), at most so many at a time. */
export interface RangeRead {
  readonly topic: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  onBatch(batch: Pick<RecordBatch, 'records'>): Promise<void>;
}

/** What a restore reads: pieces of the log, without a group. */
export interface LogRanges {
  /** Throws `partition_unknown` (release). */
  bounds(topic: string, partition: number): Promise<PartitionBounds>;
  /**
   * Resolves when every record of the range was handled. Faults: see `readRange` of the kit, or what `onBatch` threw.
   */
  read(range: RangeRead): Promise<void>;
}

/** The identity of a stored output. */
export interface StoredOutput {
  readonly inOffset: number;
  readonly chain: Buffer;
}

interface ExecutionSourceParts {
  readonly log: LogRanges;
  readonly codec: Pick<RecordCodec<Execution>, 'decode' | 'knows' | 'prepare'>;
  readonly topic: string;
  readonly partition: number;
}

/** Reads back what was written to `executions[p]`, by this owner or one before. */
export class ExecutionSource {
  readonly #parts: ExecutionSourceParts;

  constructor(parts: ExecutionSourceParts) {
    this.#parts = parts;
  }

  bounds(): Promise<PartitionBounds> {
    return this.#parts.log.bounds(this.#parts.topic, this.#parts.partition);
  }

  /**
   * The last stored output, `null` when there is none yet. A zombie's late copy may stand there; starting from it only
   * writes more copies, which readers drop. Throws `tail_missing` (release) when retention took it.
   */
  async tail(bounds: PartitionBounds): Promise<StoredOutput | null> {
    const { high, low } = bounds;
    if (high === 0) return null;
    if (low < high) return this.#at(high - 1);
    const { topic, partition } = this.#parts;
    throw new Fault('tail_missing', 'release', { facts: { topic, partition, low, high } });
  }

  /**
   * The stored output of an input, `null` when it is not there. Every input has at least one output in order, and
   * copies only push it further back: from an output of `inOffset - k`, looking `k` further never jumps over the first
   * one.
   */
  async find(inOffset: number, bounds: PartitionBounds): Promise<StoredOutput | null> {
    let at = Math.max(inOffset, bounds.low);
    while (at < bounds.high) {
      const found = await this.#at(at);
      if (found.inOffset === inOffset) return found;
      // Everything before the first copy is of a smaller input: the first copy is below `bounds.low`.
      if (found.inOffset > inOffset) return null;
      at += inOffset - found.inOffset;
    }
    return null;
  }

  /** All stored outputs from an offset of `executions` on. */
  async readValues(
    range: { from: number; to: number },
    onValue: (value: Buffer, stored: StoredOutput) => Promise<void>,
  ): Promise<void> {
    const { log, topic, partition } = this.#parts;
    await log.read({
      topic,
      partition,
      ...range,
      onBatch: async ({ records }) => {
        for (const record of records) {
          const { value, stored } = await this.#decode(record);
          await onValue(value, stored);
        }
      },
    });
  }

  async #at(offset: number): Promise<StoredOutput> {
    const found: StoredOutput[] = [];
    await this.readValues({ from: offset, to: offset + 1 }, async (_, stored) => {
      found.push(stored);
    });
    const [stored] = found;
    if (stored !== undefined) return stored;
    throw this.#unreadable(offset);
  }

  /** Only matchers write `executions`: what cannot be read there is no poison to skip but a broken log. */
  async #decode({ offset, value }: Pick<IncomingRecord, 'offset' | 'value'>) {
    const { codec } = this.#parts;
    if (value === null) throw this.#unreadable(offset);
    try {
      if (!codec.knows(value)) await codec.prepare(value);
      const { inOffset, chain } = codec.decode(value);
      return { value, stored: { inOffset, chain: Buffer.from(chain) } };
    } catch (error) {
      if (error instanceof AvroError) throw this.#unreadable(offset, error);
      throw error;
    }
  }

  #unreadable(offset: number, cause?: unknown): Fault {
    const { topic, partition } = this.#parts;
    return new Fault('execution_unreadable', 'release', {
      facts: { topic, partition, offset },
      cause,
    });
  }
}
