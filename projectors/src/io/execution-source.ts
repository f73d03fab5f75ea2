import { checkChain, firstChain } from '@pm/domain/signoff/records';
import { Fault } from '@pm/kit/fault';
import {
  type IncomingRecord,
  type LogClient,
  type PartitionBounds,
  readRange,
} from '@pm/kit/kafka';
import type { RecordCodec } from '@pm/kit/registry';
import {
  type Execution,
  executionChainBytes,
  InputSequence,
  registryHeaderBytes,
} from '@pm/schemas';

/** Records read back before the first one, to find the newest input offset: more than any run of repetitions. */
const lookBackRecords = 4_096;

export interface ExecutionSourceParts {
  readonly client: LogClient;
  readonly codec: RecordCodec<Execution>;
  /** Name of the topic on the broker. */
  readonly topic: string;
  /** Checks the hash chain too; one view of the service does. */
  readonly checksChain: boolean;
}

/** A record; `execution` is `null` when it only repeats an earlier one. */
export interface ReadExecution {
  readonly offset: number;
  readonly execution: Execution | null;
}

/** Decodes the records of one partition from an offset on, drops repetitions, and stops at gaps and broken chains. */
export class ExecutionSource {
  readonly #parts: ExecutionSourceParts;
  readonly #partition: number;
  #sequence: InputSequence | null = null;
  #chain: Buffer | null = null;
  #lastTimeMs = 0;

  private constructor(parts: ExecutionSourceParts, partition: number) {
    this.#parts = parts;
    this.#partition = partition;
  }

  /** A source whose first record is that of `offset`. Same faults as `take` and `readRange`. */
  static async open(
    parts: ExecutionSourceParts,
    partition: number,
    offset: number,
  ): Promise<ExecutionSource> {
    const source = new ExecutionSource(parts, partition);
    if (offset === 0) source.#startOver();
    else await source.#lookBack(offset);
    return source;
  }

  /** Input offset behind that of the last record; 0 before the first. */
  get nextInOffset(): number {
    return (this.#sequence?.last ?? -1) + 1;
  }

  /** Clock of the partition after the last record; 0 before the first. */
  get lastTimeMs(): number {
    return this.#lastTimeMs;
  }

  /** What the records say, in order. Same faults as `next`. */
  async take(records: readonly IncomingRecord[]): Promise<readonly ReadExecution[]> {
    const taken: ReadExecution[] = [];
    for (const record of records)
      taken.push({ offset: record.offset, execution: await this.next(record) });
    return taken;
  }

  /**
   * What one record says; null when it only repeats an earlier one. Of a codec that uses memory again it is good until the next.
   * Throws a `Fault`: `execution_unreadable`, `execution_gap`, `chain_broken` (stop), `registry_unavailable` (retry).
   */
  async next(record: IncomingRecord): Promise<Execution | null> {
    const execution = await this.#decode(record);
    return this.#isNext(record, execution) ? execution : null;
  }

  /** The clock a record was made at, Unix milliseconds, ahead of `next`. Same faults of reading. */
  async clockOf(record: IncomingRecord): Promise<number> {
    return (await this.#decode(record)).timeMs;
  }

  #startOver(): void {
    this.#sequence = new InputSequence(-1);
    this.#chain = firstChain;
  }

  async #lookBack(offset: number): Promise<void> {
    const { client, topic } = this.#parts;
    const { low } = await boundsOf(this.#parts, this.#partition);
    const from = Math.max(low, offset - lookBackRecords);
    let newest = -1;
    const onBatch = async ({ records }: { records: readonly IncomingRecord[] }) => {
      for (const record of records) {
        const { inOffset, timeMs } = await this.#decode(record);
        if (inOffset <= newest) continue;
        newest = inOffset;
        this.#lastTimeMs = timeMs;
        this.#chain = chainOf(record);
      }
    };
    await readRange(client, { topic, partition: this.#partition, from, to: offset, onBatch });
    if (newest >= 0) this.#sequence = new InputSequence(newest);
  }

  async #decode({ offset, value }: IncomingRecord): Promise<Execution> {
    const { codec } = this.#parts;
    if (value === null) throw this.#fault('execution_unreadable', { offset });
    if (!codec.knows(value)) await codec.prepare(value);
    try {
      return codec.decode(value);
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw this.#fault('execution_unreadable', { offset }, error);
    }
  }

  #isNext(record: IncomingRecord, execution: Execution): boolean {
    // Only behind a log whose beginning is gone: what came before cannot be known.
    this.#sequence ??= new InputSequence(execution.inOffset - 1);
    const { last } = this.#sequence;
    const answer = this.#sequence.take(execution);
    const facts = { offset: record.offset, last, inOffset: execution.inOffset };
    if (answer === 'gap') throw this.#fault('execution_gap', facts);
    if (answer === 'repeated') return false;
    this.#checkChain(record, facts);
    this.#lastTimeMs = execution.timeMs;
    return true;
  }

  #checkChain(record: IncomingRecord, facts: Record<string, number>): void {
    if (!this.#parts.checksChain || record.value === null) return;
    if (this.#chain !== null && !checkChain(record.value, this.#chain))
      throw this.#fault('chain_broken', facts);
    this.#chain = chainOf(record);
  }

  #fault(code: string, facts: Record<string, number>, cause?: unknown): Fault {
    const { topic } = this.#parts;
    return new Fault(code, 'stop', {
      facts: { topic, partition: this.#partition, ...facts },
      cause,
    });
  }
}

/** Offsets [low, high) that the log has of a partition now. Rejects with `partition_unknown` (retry) when the broker does not tell. */
export async function boundsOf(
  { client, topic }: Pick<ExecutionSourceParts, 'client' | 'topic'>,
  partition: number,
): Promise<PartitionBounds> {
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const found = bounds.get(partition);
  if (found === undefined)
    throw new Fault('partition_unknown', 'retry', { facts: { topic, partition } });
  return found;
}

/** A copy, so that the chain does not keep the whole fetch in memory. */
function chainOf({ value }: IncomingRecord): Buffer | null {
  if (value === null) return null;
  return Buffer.from(
    value.subarray(registryHeaderBytes, registryHeaderBytes + executionChainBytes),
  );
}
