import { Fault } from '@pm/kit/fault';
import { type Execution, executionChainBytes } from '@pm/schemas/log/executions';
import { registryHeaderBytes } from '@pm/schemas/log/topics';
import { checkChain, firstChain } from '../signoff/records.ts';
import { InputSequence } from './input-sequence.ts';

/** A record; `execution` is `null` when it only repeats an earlier one. */
export interface NumberedExecution {
  readonly offset: number;
  readonly execution: Execution | null;
}

/** How far something is folded from a partition, read at one moment. */
export interface FoldedPlace {
  /** Offset after the last record. */
  readonly offset: number;
  /** Clock of the partition at that record, Unix milliseconds; 0 where it is not known. */
  readonly timeMs: number;
}

/** One partition of `executions`. */
export interface ExecutionPlace {
  /** Name of the topic on the broker. */
  readonly topic: string;
  readonly partition: number;
}

/** A record as it is on the log. */
interface StoredRecord {
  readonly offset: number;
  readonly value: Buffer | null;
}

/**
 * The order of the executions of one partition: each input offset counts once, the next one is one more, and with
 * `checksChain` each record is chained to the one before. Begins at the first record of the log, or with `recall`.
 */
export class ExecutionOrder {
  readonly #place: ExecutionPlace;
  readonly #checksChain: boolean;
  /** Null while nothing is known of the records before the next one. */
  #sequence: InputSequence | null;
  #chain: Buffer | null;
  #lastTimeMs = 0;

  /** `from`: offset of the first record to come. */
  constructor(place: ExecutionPlace, from: number, checksChain: boolean) {
    this.#place = place;
    this.#checksChain = checksChain;
    this.#sequence = from === 0 ? new InputSequence(-1) : null;
    this.#chain = from === 0 ? firstChain : null;
  }

  /** Input offset after that of the last record; 0 before the first. */
  get nextInOffset(): number {
    return (this.#sequence?.last ?? -1) + 1;
  }

  /** Clock of the partition at the last record, Unix milliseconds; 0 before the first. */
  get lastTimeMs(): number {
    return this.#lastTimeMs;
  }

  /** Chain of the last record, 32 bytes; null while nothing is known of it. */
  get chain(): Buffer | null {
    return this.#chain;
  }

  /**
   * Takes a record before the first one to come. Such records may come in any order, begin anywhere and repeat each
   * other.
   */
  recall(record: StoredRecord, { inOffset, timeMs }: Execution): void {
    if (inOffset < this.nextInOffset) return;
    this.#sequence = new InputSequence(inOffset);
    this.#lastTimeMs = timeMs;
    this.#chain = chainOf(record);
  }

  /**
   * The execution of the next record; null when it only repeats an earlier one. Throws the `Fault` `execution_gap` or
   * `chain_broken` (stop).
   */
  accept(record: StoredRecord, execution: Execution): Execution | null {
    // Only in a log whose beginning was deleted: the record before this one cannot be known.
    this.#sequence ??= new InputSequence(execution.inOffset - 1);
    const { last } = this.#sequence;
    const order = this.#sequence.take(execution);
    const facts = { offset: record.offset, last, inOffset: execution.inOffset };
    if (order === 'gap') throw this.#fault('execution_gap', facts);
    if (order === 'repeated') return null;
    this.#checkChain(record, facts);
    this.#lastTimeMs = execution.timeMs;
    return execution;
  }

  #checkChain(record: StoredRecord, facts: Readonly<Record<string, number>>): void {
    if (!this.#checksChain || record.value === null) return;
    if (this.#chain !== null && !checkChain(record.value, this.#chain))
      throw this.#fault('chain_broken', facts);
    this.#chain = chainOf(record);
  }

  #fault(code: string, facts: Readonly<Record<string, number>>): Fault {
    return new Fault(code, 'stop', { facts: { ...this.#place, ...facts } });
  }
}

/** A copy, so that the chain does not keep the whole fetch in memory. */
function chainOf({ value }: StoredRecord): Buffer | null {
  if (value === null) return null;
  return Buffer.from(
    value.subarray(registryHeaderBytes, registryHeaderBytes + executionChainBytes),
  );
}
