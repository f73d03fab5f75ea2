import { InputSequence } from '@pm/domain/executions/input-sequence';
import type { OrderEventRow } from '@pm/domain/orders/order-read';
import type { FillRow } from '@pm/domain/orders/trades';
import type { Execution } from '@pm/schemas/log/executions';
import { type HoldingChange, type RecordRows, rowsOfRecord } from './record-rows.ts';

interface KeptRecord {
  /** Its offset in `executions`, which is what the tables' position counts. */
  readonly offset: number;
  readonly inOffset: number;
  readonly rows: RecordRows;
  readonly count: number;
}

/** Rows by one of their ids, in log order, with the oldest forgotten first. */
class RowIndex<T> {
  readonly #rows = new Map<string, T[]>();

  of(key: string): readonly T[] {
    return this.#rows.get(key) ?? [];
  }

  add(key: string, row: T): void {
    const known = this.#rows.get(key);
    if (known === undefined) this.#rows.set(key, [row]);
    else known.push(row);
  }

  /** Forgets the oldest row of each key, as often as the key is given. */
  forget(keys: readonly string[]): void {
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    for (const [key, count] of counts) {
      const rows = this.#rows.get(key);
      if (rows === undefined || rows.length <= count) this.#rows.delete(key);
      else rows.splice(0, count);
    }
  }
}

/** Offset of `executions` below which the tables were known to hold all records at a moment. */
interface KnownStored {
  readonly atMs: number;
  readonly offset: number;
}

/**
 * The newest records of one partition, without a gap: everything from `lowOffset` on that was read. Whatever the tables
 * hold for certain may be forgotten; what lies below is theirs alone.
 */
export class RecentPartition {
  readonly #partition: number;
  readonly #records: KeptRecord[] = [];
  readonly #byOrder = new RowIndex<OrderEventRow>();
  readonly #byKey = new RowIndex<OrderEventRow>();
  readonly #fillsByKey = new RowIndex<FillRow>();
  readonly #holdings = new RowIndex<HoldingChange>();
  /** As far back as `stored` was to keep records, oldest first. */
  readonly #known: KnownStored[] = [];
  #sequence: InputSequence | null;
  #rowCount = 0;
  #lowOffset: number;
  /** Offset of `executions` that is read next. */
  #readTo: number;
  #storedTo = -1;

  /**
   * `from`: the offset of `executions` that is read first; `newest`: the newest input in front of it, null where it
   * is not known.
   */
  constructor(partition: number, from: number, newest: number | null) {
    this.#partition = partition;
    this.#sequence = newest === null ? null : new InputSequence(newest);
    this.#lowOffset = from;
    this.#readTo = from;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  /** Offset of `executions` that the tables are known to hold everything below of; -1 while that is not known. */
  get storedTo(): number {
    return this.#storedTo;
  }

  /**
   * First input offset that is answered from here and not from the tables. Null while there is a gap between them, or
   * the tables are ahead, or nothing was read yet: then they answer alone.
   */
  get cutoverOffset(): number | null {
    if (this.hasGap || this.#storedTo > this.#readTo) return null;
    return this.#records[0]?.inOffset ?? (this.#sequence === null ? null : this.#sequence.last + 1);
  }

  /** Input offset of the newest record that was read, or that lay before it; -1 where there is none. */
  get newestInput(): number {
    return this.#sequence?.last ?? -1;
  }

  /** The newest cutover offset with which nothing is missing: that of the first record that the tables may lack. */
  get newestCutover(): number | null {
    if (this.cutoverOffset === null) return null;
    const stored = this.#records.findLast((record) => record.offset < this.#storedTo);
    return stored === undefined ? this.cutoverOffset : stored.inOffset + 1;
  }

  /**
   * Whether the tables lack records that are not here any more, or not yet known to be stored. What begins with the log
   * lacks none, whatever the tables have.
   */
  get hasGap(): boolean {
    return Math.max(this.#storedTo, 0) < this.#lowOffset;
  }

  /** Takes the next record in. False for a repetition; null when records are missing before it. */
  take(execution: Execution, offset: number): boolean | null {
    this.#sequence ??= new InputSequence(execution.inOffset - 1);
    const answer = this.#sequence.take(execution);
    if (answer === 'gap') return null;
    this.#readTo = offset + 1;
    if (answer === 'repeated') return false;
    if (offset < this.#storedTo && this.#records.length === 0) {
      // Behind the tables: they know better.
      this.#lowOffset = offset + 1;
      return true;
    }
    const rows = rowsOfRecord(this.#partition, execution);
    const count = rows.orders.length + rows.fills.length + rows.holdings.length + 1;
    this.#records.push({ offset, inOffset: execution.inOffset, rows, count });
    this.#rowCount += count;
    this.#index(rows);
    return true;
  }

  /**
   * At `nowMs` the tables hold everything below `offset`; what they have held for `keepMs` is forgotten. A position
   * that went back (rebuilt tables) counts too.
   */
  stored(
    offset: number,
    { nowMs, keepMs }: { readonly nowMs: number; readonly keepMs: number },
  ): void {
    if (offset < this.#storedTo) this.#known.length = 0;
    this.#storedTo = offset;
    this.#known.push({ atMs: nowMs, offset });
    const oldMs = nowMs - keepMs;
    const young = this.#known.findIndex(({ atMs }) => atMs > oldMs);
    this.#known.splice(0, (young === -1 ? this.#known.length : young) - 1);
    const [oldest] = this.#known;
    if (oldest === undefined || oldest.atMs > oldMs) return;
    this.#forgetWhile((record) => record.offset < oldest.offset);
  }

  /** Forgets the oldest records until so many rows are gone: the tables then answer alone until they have caught up. */
  shed(rows: number): void {
    const target = this.#rowCount - rows;
    let left = this.#rowCount;
    this.#forgetWhile((record) => {
      if (left <= target) return false;
      left -= record.count;
      return true;
    });
  }

  orderRows(orderId: string): readonly OrderEventRow[] {
    return this.#byOrder.of(orderId);
  }

  rowsOfKey(apiKey: string): readonly OrderEventRow[] {
    return this.#byKey.of(apiKey);
  }

  fillsOfKey(apiKey: string): readonly FillRow[] {
    return this.#fillsByKey.of(apiKey);
  }

  /** Newest first, of records from this input offset on. */
  *fills(from: number): Generator<FillRow> {
    for (let at = this.#records.length - 1; at >= 0; at -= 1) {
      const { inOffset, rows } = this.#records[at] as KeptRecord;
      if (inOffset < from) return;
      const { fills } = rows;
      for (let index = fills.length - 1; index >= 0; index -= 1) yield fills[index] as FillRow;
    }
  }

  holdingsOf(wallet: string): readonly HoldingChange[] {
    return this.#holdings.of(wallet);
  }

  #index({ orders, fills, holdings }: RecordRows): void {
    for (const row of orders) {
      this.#byOrder.add(row.orderId, row);
      this.#byKey.add(row.apiKey, row);
    }
    for (const fill of fills) for (const key of keysOf(fill)) this.#fillsByKey.add(key, fill);
    for (const change of holdings) this.#holdings.add(change.wallet, change);
  }

  #forgetWhile(isOld: (record: KeptRecord) => boolean): void {
    const kept = this.#records.findIndex((record) => !isOld(record));
    const gone = this.#records.splice(0, kept === -1 ? this.#records.length : kept);
    const last = gone.at(-1);
    if (last === undefined) return;
    this.#lowOffset = last.offset + 1;
    for (const { count } of gone) this.#rowCount -= count;
    this.#forgetRows(gone.map(({ rows }) => rows));
  }

  #forgetRows(gone: readonly RecordRows[]): void {
    const orders = gone.flatMap((rows) => rows.orders);
    const fills = gone.flatMap((rows) => rows.fills);
    const holdings = gone.flatMap((rows) => rows.holdings);
    this.#byOrder.forget(orders.map((row) => row.orderId));
    this.#byKey.forget(orders.map((row) => row.apiKey));
    this.#fillsByKey.forget(fills.flatMap(keysOf));
    this.#holdings.forget(holdings.map((change) => change.wallet));
  }
}

/** A key that is on both sides has the fill once. */
function keysOf({ takerKey, makerKey }: FillRow): readonly string[] {
  return takerKey === makerKey ? [takerKey] : [takerKey, makerKey];
}
