import { Fault } from '../fault/index.ts';
import type { OutgoingRecord, RecordPlace } from './records.ts';
import { bytesOf, type PendingPart, placeKey, placesFrom } from './send-queue.ts';

/** The two ends of the promise of a call. */
interface CallEnds {
  resolve(places: readonly RecordPlace[]): void;
  reject(error: unknown): void;
}

/** One call of `send` while its records are on their way, a part for each partition. */
export interface PendingCall {
  readonly records: readonly OutgoingRecord[];
  readonly bytes: number;
  /** Its parts by partition, in the order of the call. */
  readonly parts: ReadonlyMap<string, PendingPart>;
  /** Ends the call before any part was queued. */
  refuse(error: unknown): void;
}

/** Opens a call; it ends when the last of its parts has. */
export function pendingCall(records: readonly OutgoingRecord[], ends: CallEnds): PendingCall {
  const bytes = bytesOf(records);
  const keys = new Set(records.map(placeKey));
  const [only] = keys;
  const parts =
    keys.size === 1 && only !== undefined
      ? new Map([[only, wholePart(records, bytes, ends)]])
      : partsOf(records, ends);
  return { records, bytes, parts, refuse: (error) => ends.reject(error) };
}

/** The usual case: all records go to one partition. */
function wholePart(records: readonly OutgoingRecord[], bytes: number, ends: CallEnds): PendingPart {
  const partition = records[0]?.partition ?? -1;
  return {
    records,
    bytes,
    resolve: (first) => ends.resolve(placesFrom(partition, first, records.length)),
    reject: (error) => ends.reject(error),
  };
}

function partsOf(records: readonly OutgoingRecord[], ends: CallEnds): Map<string, PendingPart> {
  const indexes = new Map<string, number[]>();
  for (const [index, record] of records.entries()) {
    const key = placeKey(record);
    const known = indexes.get(key);
    if (known === undefined) indexes.set(key, [index]);
    else known.push(index);
  }
  const outcome = new CallResult(records, indexes.size, ends);
  const parts = new Map<string, PendingPart>();
  for (const [key, own] of indexes) parts.set(key, partOf(records, own, outcome));
  return parts;
}

function partOf(
  all: readonly OutgoingRecord[],
  indexes: readonly number[],
  outcome: CallResult,
): PendingPart {
  const records = indexes.map((index) => all[index] as OutgoingRecord);
  return {
    records,
    bytes: bytesOf(records),
    resolve: (first) => outcome.written(indexes, first),
    reject: (error) => outcome.failed(error),
  };
}

/** Joins the outcomes of the parts into one of the call. */
class CallResult {
  readonly #ends: CallEnds;
  readonly #places: RecordPlace[];
  readonly #partitions: readonly number[];
  #open: number;
  #written = 0;
  #fault: unknown = null;

  constructor(records: readonly OutgoingRecord[], parts: number, ends: CallEnds) {
    this.#ends = ends;
    this.#places = Array.from(records, ({ partition }) => ({ partition, offset: -1 }));
    this.#partitions = records.map(({ partition }) => partition);
    this.#open = parts;
  }

  written(indexes: readonly number[], first: number): void {
    for (const [nth, index] of indexes.entries())
      this.#places[index] = { partition: this.#partitions[index] ?? -1, offset: first + nth };
    this.#written += 1;
    this.#end();
  }

  failed(error: unknown): void {
    if (this.#fault === null || isUnknown(error)) this.#fault = error;
    this.#end();
  }

  /** `not_sent` promises that nothing of the call was written, so a part that was written makes the call unknown. */
  #end(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    if (this.#fault === null) this.#ends.resolve(this.#places);
    else if (this.#written === 0 || isUnknown(this.#fault)) this.#ends.reject(this.#fault);
    else this.#ends.reject(partlyWritten(this.#fault));
  }
}

function isUnknown(error: unknown): boolean {
  return error instanceof Fault && error.code === 'send_outcome_unknown';
}

function partlyWritten(cause: unknown): Fault {
  const facts = { partlyWritten: true };
  return new Fault('send_outcome_unknown', 'release', { facts, cause });
}
