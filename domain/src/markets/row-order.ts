/** Keys that rows are sorted by; all keys of one order are of one kind. */
export type SortKey = number | string;

/** A place in an order, between rows. */
export interface RowCursor {
  readonly key: SortKey;
  readonly number: number;
}

/** The key of the row in a slot; null when there is no row any more. */
type ReadKey = (slot: number) => SortKey | null;

/** So many changes are moved one by one; beyond it the changed rows are sorted and merged in. */
const movedOneByOneMax = 64;

/** Reads of an order from its table. */
export interface RowReads {
  readonly keyOf: ReadKey;
  numberOf(slot: number): number;
  /** Slots of the table, with those that have no row. */
  slotCount(): number;
}

/**
 * The slots of a table sorted by one key, ties by the number of the row. It is sorted as a whole when it is first read
 * (`settle`), so that loading 100,000 rows notes nothing about any of them. Changes from then on are noted (`touch`)
 * and taken in when it is next read: a few by moving them, many by one merge, so that changing one row does not sort
 * everything.
 */
export class RowOrder {
  readonly #reads: RowReads;
  /** Null until the order was sorted as a whole: then all rows wait. */
  #pending: Set<number> | null = null;
  /** Keys as they were when the order was last settled: they say where a row is. */
  readonly #keys: (SortKey | null)[] = [];
  readonly #numbers: number[] = [];
  #slots = new Uint32Array(0);
  #length = 0;

  constructor(reads: RowReads) {
    this.#reads = reads;
  }

  /** The row in this slot is new, changed or gone. */
  touch(slot: number): void {
    this.#pending?.add(slot);
  }

  /** Slots in ascending order. Valid until the next `touch`. */
  settle(): { readonly slots: Uint32Array; readonly length: number } {
    const pending = this.#pending;
    if (pending === null) this.#sortAll();
    else if (pending.size > movedOneByOneMax) this.#merge(pending);
    else this.#move(pending);
    pending?.clear();
    return { slots: this.#slots, length: this.#length };
  }

  /** The place that a later page starts after: the key of a row of a settled order, and its number. */
  cursorOf(slot: number): RowCursor {
    return { key: this.#keys[slot] ?? '', number: this.#numbers[slot] ?? 0 };
  }

  /** Index of the first slot of a settled order that does not come before the cursor. */
  placeOf(cursor: RowCursor): number {
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compareTo(this.#slots[middle] ?? 0, cursor) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Negative when the slot comes before the cursor, 0 when it is the row the cursor was made of. */
  compareTo(slot: number, { key, number }: RowCursor): number {
    return compare(this.#keys[slot] ?? 0, key) || (this.#numbers[slot] ?? 0) - number;
  }

  /** Whether two rows of a settled order have the same key. */
  ties(left: number, right: number): boolean {
    return this.#keys[left] === this.#keys[right];
  }

  /** Negative when the left row of a settled order comes first, by key alone. */
  compareKeys(left: number, right: number): number {
    return compare(this.#keys[left] ?? 0, this.#keys[right] ?? 0);
  }

  readonly #compare = (left: number, right: number): number =>
    this.compareKeys(left, right) || (this.#numbers[left] ?? 0) - (this.#numbers[right] ?? 0);

  #sortAll(): void {
    const slots: number[] = [];
    for (let slot = 0; slot < this.#reads.slotCount(); slot += 1) {
      if (this.#remember(slot)) slots.push(slot);
    }
    this.#slots = Uint32Array.from(slots.sort(this.#compare));
    this.#length = slots.length;
    this.#pending = new Set();
  }

  /** All out, then all in: a row that came back in another slot must not be taken for itself. */
  #move(pending: ReadonlySet<number>): void {
    for (const slot of pending) {
      if ((this.#keys[slot] ?? null) === null) continue;
      const place = this.placeOf(this.cursorOf(slot));
      this.#slots.copyWithin(place, place + 1, this.#length);
      this.#length -= 1;
    }
    for (const slot of pending) {
      if (!this.#remember(slot)) continue;
      this.#reserve(this.#length + 1);
      const place = this.placeOf(this.cursorOf(slot));
      this.#slots.copyWithin(place + 1, place, this.#length);
      this.#slots[place] = slot;
      this.#length += 1;
    }
  }

  #merge(pending: ReadonlySet<number>): void {
    const kept = this.#slots.subarray(0, this.#length).filter((slot) => !pending.has(slot));
    const added = [...pending].filter((slot) => this.#remember(slot)).sort(this.#compare);
    const length = kept.length + added.length;
    const merged = new Uint32Array(length + (length >>> 3));
    let [fromKept, fromAdded] = [0, 0];
    for (let place = 0; place < length; place += 1) {
      const one = kept[fromKept];
      const other = added[fromAdded];
      if (one !== undefined && (other === undefined || this.#compare(one, other) < 0)) {
        merged[place] = one;
        fromKept += 1;
      } else if (other !== undefined) {
        merged[place] = other;
        fromAdded += 1;
      }
    }
    this.#slots = merged;
    this.#length = length;
  }

  /** Takes the present key of a slot; false when its row is gone. */
  #remember(slot: number): boolean {
    const key = this.#reads.keyOf(slot);
    // Slots are dense, but are settled in any order: no holes, which would make the array slow.
    while (this.#keys.length <= slot) {
      this.#keys.push(null);
      this.#numbers.push(0);
    }
    this.#keys[slot] = key;
    if (key === null) return false;
    this.#numbers[slot] = this.#reads.numberOf(slot);
    return true;
  }

  #reserve(length: number): void {
    if (length <= this.#slots.length) return;
    const grown = new Uint32Array(Math.max(64, length * 2));
    grown.set(this.#slots);
    this.#slots = grown;
  }
}

function compare(left: SortKey, right: SortKey): number {
  if (left < right) return -1;
  return left > right ? 1 : 0;
}
