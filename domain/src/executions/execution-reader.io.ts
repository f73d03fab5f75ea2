import { Fault } from '@pm/kit/fault';
import {
  type IncomingRecord,
  type LogClient,
  type PartitionBounds,
  readRange,
} from '@pm/kit/kafka';
import type { Execution } from '@pm/schemas/log/executions';
import { type ExecutionCodec, readExecution } from './each-execution.io.ts';
import {
  ExecutionOrder,
  type ExecutionPlace,
  type FoldedPlace,
  type NumberedExecution,
} from './execution-order.ts';

/** Records in front of the first one that are read in any case, to find the newest input offset. */
const lookBackRecords = 256;

/** The topic `executions`, and how it is read. */
export interface ExecutionLog {
  readonly client: LogClient;
  readonly codec: ExecutionCodec;
  /** Name of the topic on the broker. */
  readonly topic: string;
  /** Whether the hash chain is checked too; one reader of a service does it. */
  readonly checksChain: boolean;
}

/**
 * Reads the records of one partition in order from an offset on: drops repetitions, stops at gaps and broken chains.
 */
export class ExecutionReader {
  readonly #codec: ExecutionCodec;
  readonly #place: ExecutionPlace;
  readonly #order: ExecutionOrder;
  readonly #from: number;

  private constructor(
    { codec, topic, checksChain }: ExecutionLog,
    partition: number,
    offset: number,
  ) {
    this.#codec = codec;
    this.#place = { topic, partition };
    this.#order = new ExecutionOrder(this.#place, offset, checksChain);
    this.#from = offset;
  }

  /**
   * A reader whose first record is the one at `offset`. Rejects with `log_behind` (retry) while the log ends before it,
   * and with the faults of `next` and of `readRange`.
   */
  static async open(
    log: ExecutionLog,
    partition: number,
    offset: number,
  ): Promise<ExecutionReader> {
    const reader = new ExecutionReader(log, partition, offset);
    if (offset > 0) await reader.#lookBack(log, offset);
    return reader;
  }

  /** Input offset after that of the last record; 0 before the first. */
  get nextInOffset(): number {
    return this.#order.nextInOffset;
  }

  /** Clock of the partition at the last record, Unix milliseconds; 0 before the first. */
  get lastTimeMs(): number {
    return this.#order.lastTimeMs;
  }

  /** Chain of the last record, 32 bytes, with `checksChain`; null while nothing is known of it. */
  get chain(): Buffer | null {
    return this.#order.chain;
  }

  /**
   * Checks that the state that was folded up to the first record comes from this log. Throws `log_replaced` (stop) when
   * the record before the first one has another clock than the clock that was stored with the state: an older copy of
   * the log was brought back and has grown since (docs/operating/recovery.md). A former owner may have moved the mark
   * meanwhile: then the mark says nothing of this record.
   */
  requireSameLog({ offset, timeMs: storedMs }: FoldedPlace): void {
    const logMs = this.lastTimeMs;
    if (offset !== this.#from || storedMs === 0 || logMs === 0 || storedMs === logMs) return;
    throw new Fault('log_replaced', 'stop', { facts: { ...this.#place, storedMs, logMs } });
  }

  /** The executions of these records, in order. Same faults as `next`. */
  async take(records: readonly IncomingRecord[]): Promise<readonly NumberedExecution[]> {
    const taken: NumberedExecution[] = [];
    for (const record of records) {
      const read = this.next(record);
      const execution = read instanceof Promise ? await read : read;
      taken.push({ offset: record.offset, execution });
    }
    return taken;
  }

  /**
   * The execution of one record; null when it only repeats an earlier one. A promise only for a schema that is not
   * known yet. With a codec that reuses memory it is valid until the next call. Throws or rejects with a `Fault`:
   * `execution_unreadable`, `execution_gap`, `chain_broken` (stop), `service_keys_unread` (retry).
   */
  next(record: IncomingRecord): Execution | null | Promise<Execution | null> {
    const read = this.#read(record);
    if (read instanceof Promise)
      return read.then((execution) => this.#order.accept(record, execution));
    return this.#order.accept(record, read);
  }

  /** The clock at which a record was made, Unix milliseconds, before `next` takes it. Same faults of reading. */
  async clockOf(record: IncomingRecord): Promise<number> {
    return (await this.#read(record)).timeMs;
  }

  #read(record: IncomingRecord): Execution | Promise<Execution> {
    return readExecution(this.#codec, record, this.#place);
  }

  /**
   * Learns the newest input of the records in front of `offset`. Those that are read first may all be repetitions: a
   * new owner writes thousands of them. The first output of an input is never at a smaller offset than its input, and
   * all in front of it are of older inputs. So the newest one that was found is the newest of all when everything from
   * that offset on was read.
   */
  async #lookBack(log: ExecutionLog, offset: number): Promise<void> {
    const { low, high } = await boundsOf(log, this.#place.partition);
    if (offset > high) throw logBehind(this.#place, { offset, high });
    const from = Math.max(low, offset - lookBackRecords);
    await this.#recall(log, from, offset);
    const first = Math.max(low, this.#order.nextInOffset - 1);
    if (first < from) await this.#recall(log, first, from);
  }

  async #recall({ client }: ExecutionLog, from: number, to: number): Promise<void> {
    const onBatch = async ({ records }: { records: readonly IncomingRecord[] }) => {
      for (const record of records) {
        const read = this.#read(record);
        this.#order.recall(record, read instanceof Promise ? await read : read);
      }
    };
    await readRange(client, { ...this.#place, from, to, onBatch });
  }
}

/** The log ends before what was folded from it: an older copy was brought back, or a former leader has answered. */
export function logBehind(
  place: ExecutionPlace,
  ends: { readonly offset: number; readonly high: number },
): Fault {
  return new Fault('log_behind', 'retry', { facts: { ...place, ...ends } });
}

/**
 * Offsets [low, high) that the log has of a partition now. Rejects with `partition_unknown` (retry) when the broker has
 * none.
 */
export async function boundsOf(
  { client, topic }: Pick<ExecutionLog, 'client' | 'topic'>,
  partition: number,
): Promise<PartitionBounds> {
  const admin = await client.admin();
  const bounds = await admin.bounds(topic).finally(() => admin.close());
  const found = bounds.get(partition);
  if (found === undefined)
    throw new Fault('partition_unknown', 'retry', { facts: { topic, partition } });
  return found;
}
