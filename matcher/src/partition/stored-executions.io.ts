import { Fault } from '@pm/kit/fault';
import type { PartitionBounds } from '@pm/kit/kafka';
import { type RecordReader, readValue } from '@pm/kit/registry';
import type { Execution } from '@pm/schemas/log/executions';
import type { LogRanges } from './log-ranges.io.ts';

/** The identity of a stored output. */
export interface StoredOutput {
  readonly inOffset: number;
  readonly chain: Buffer;
}

interface StoredExecutionsParts {
  readonly log: LogRanges;
  readonly codec: RecordReader<Execution>;
  readonly topic: string;
  readonly partition: number;
}

/** Reads the stored outputs of a partition (`executions[p]`), written by this owner or an earlier one. */
export class StoredExecutions {
  readonly #parts: StoredExecutionsParts;

  constructor(parts: StoredExecutionsParts) {
    this.#parts = parts;
  }

  bounds(): Promise<PartitionBounds> {
    return this.#parts.log.bounds(this.#parts.topic, this.#parts.partition);
  }

  /**
   * The last stored output, `null` when there is none yet. It may be a late copy of a replaced owner; starting from it
   * only writes more copies, which readers drop. Throws `tail_missing` (release) when retention removed it.
   */
  async tail(bounds: PartitionBounds): Promise<StoredOutput | null> {
    const { high, low } = bounds;
    if (high === 0) return null;
    if (low < high) return this.#at(high - 1);
    const { topic, partition } = this.#parts;
    throw new Fault('tail_missing', 'release', { facts: { topic, partition, low, high } });
  }

  /** The first stored output of a partition that has some. */
  first({ low }: PartitionBounds): Promise<StoredOutput> {
    return this.#at(low);
  }

  /**
   * The stored output of an input, `null` when there is none. The first outputs of all inputs are in order, and copies
   * only move them to larger offsets: from the first output of `inOffset - k`, a step of `k` never jumps over the one
   * that is looked for. From a late copy it may; then all that was passed is read.
   */
  async find(
    inOffset: number,
    bounds: PartitionBounds,
  ): Promise<(StoredOutput & { readonly offset: number }) | null> {
    const from = Math.max(inOffset, bounds.low);
    let at = from;
    while (at < bounds.high) {
      const found = await this.#at(at);
      if (found.inOffset === inOffset) return { ...found, offset: at };
      if (found.inOffset > inOffset) break;
      at += inOffset - found.inOffset;
    }
    // Everything before the first output has a smaller input: where `from` has a larger one, it is below `bounds.low`.
    return at === from ? null : this.#firstOf(inOffset, { from, to: Math.min(at, bounds.high) });
  }

  /** The first output of an input in a range of offsets of `executions`. */
  async #firstOf(
    inOffset: number,
    range: { from: number; to: number },
  ): Promise<(StoredOutput & { readonly offset: number }) | null> {
    const { log, topic, partition } = this.#parts;
    const all: (StoredOutput & { readonly offset: number })[] = [];
    await log.read({
      topic,
      partition,
      ...range,
      onBatch: async ({ records }) => {
        for (const { offset, value } of records) {
          if (all.length > 0) return;
          const stored = await this.identify(offset, value);
          if (stored.inOffset === inOffset) all.push({ ...stored, offset });
        }
      },
    });
    return all[0] ?? null;
  }

  /** Reads every stored output in a range of offsets of `executions`. */
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
        for (const { offset, value } of records) {
          if (value === null) throw this.#unreadable(offset);
          await onValue(value, await this.#decode(offset, value));
        }
      },
    });
  }

  /** Which output a stored value is. Throws `execution_unreadable` (release). */
  identify(offset: number, value: Buffer | null): Promise<StoredOutput> {
    if (value === null) throw this.#unreadable(offset);
    return this.#decode(offset, value);
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

  /** Only matchers write `executions`: a record that cannot be read there is not skipped, the log is broken. */
  async #decode(offset: number, value: Buffer): Promise<StoredOutput> {
    const { inOffset, chain } = await readValue(this.#parts.codec, value, (cause) => {
      throw this.#unreadable(offset, cause);
    });
    return { inOffset, chain: Buffer.from(chain) };
  }

  #unreadable(offset: number, cause?: unknown): Fault {
    const { topic, partition } = this.#parts;
    return new Fault('execution_unreadable', 'release', {
      facts: { topic, partition, offset },
      cause,
    });
  }
}
