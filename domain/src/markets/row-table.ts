import { type RowCursor, RowOrder, type SortKey } from './row-order.ts';

/** How rows of a table are found and sorted. */
export interface RowRules<T> {
  /** Breaks ties; no two rows have the same. */
  number(row: T): number;
  /** Eight facts at most, one bit each (`RowQuery.flags`). */
  flags(row: T): number;
  /** Names of the groups a row is in, such as its tags. */
  groups(row: T): readonly string[];
  /** Columns by name. */
  readonly columns: Readonly<Record<string, (row: T) => SortKey>>;
}

/** Which rows, and in what order. */
export interface RowQuery<T> {
  /** Bits that must be as in `want`. */
  readonly flags?: { readonly mask: number; readonly want: number };
  /** A row must be in all of these; of a list of names in one of them at least. */
  readonly groups?: readonly (string | readonly string[])[];
  /** Only these rows; rows the table does not have are left out. */
  readonly only?: readonly T[] | null;
  /** A condition that is no group or flag. */
  readonly test?: ((row: T) => boolean) | null;
  /** Whether the test looks at what is beside a row, not in it. */
  readonly usesFigures?: boolean;
}

export interface RowSpan {
  /** Names of columns: by the first, ties by the next, at last by number. */
  readonly order: readonly string[];
  readonly ascending: boolean;
  readonly offset: number;
  readonly limit: number;
  /** Starts after this place of the first column, wherever rows have come or gone before it. */
  readonly after?: RowCursor | null;
}

/** Fewer candidates than this share of the table are sorted; more are picked while walking the sorted table. */
const sortedShare = 16;

/**
 * Rows with groups, flags and sorted orders, so that a page of a filtered and sorted list of 100,000 rows costs about
 * as much as reading it. Rows are replaced, never changed; `touch` says that a figure beside a row has changed.
 */
export class RowTable<T extends object> {
  readonly #rules: RowRules<T>;
  readonly #rows: (T | null)[] = [];
  readonly #slots = new Map<T, number>();
  readonly #free: number[] = [];
  readonly #groups = new Map<string, Set<number>>();
  /** The groups each slot is in, as they were when it was put there. */
  readonly #namesOf: (readonly string[])[] = [];
  readonly #orders: ReadonlyMap<string, RowOrder>;
  #flags = new Uint8Array(64);
  /** Marks slots of one group of ties while they are sorted further. */
  #marks = new Uint32Array(64);
  #lastMark = 0;

  /** Columns must have one named `id`: lists without a known order are sorted by it. */
  constructor(rules: RowRules<T>) {
    this.#rules = rules;
    const orderBy = (keyOf: (row: T) => SortKey) =>
      new RowOrder({
        keyOf: (slot) => this.#read<SortKey | null>(slot, keyOf, null),
        numberOf: (slot) => this.#read(slot, rules.number, 0),
        slotCount: () => this.#rows.length,
      });
    this.#orders = new Map(
      Object.entries(rules.columns).map(([name, keyOf]) => [name, orderBy(keyOf)]),
    );
  }

  get size(): number {
    return this.#slots.size;
  }

  add(row: T): void {
    const slot = this.#free.pop() ?? this.#rows.length;
    this.#rows[slot] = row;
    this.#slots.set(row, slot);
    this.#reserve(slot + 1);
    this.#enter(slot, row);
    for (const order of this.#orders.values()) order.touch(slot);
  }

  remove(row: T): void {
    const slot = this.#slots.get(row);
    if (slot === undefined) return;
    this.#slots.delete(row);
    this.#rows[slot] = null;
    this.#free.push(slot);
    this.#leave(slot);
    for (const order of this.#orders.values()) order.touch(slot);
  }

  /** The groups or flags of a row have changed, though the row has not. */
  regroup(row: T): void {
    const slot = this.#slots.get(row);
    if (slot === undefined) return;
    this.#leave(slot);
    this.#enter(slot, row);
  }

  /** The key of this column has changed for a row, though the row has not. */
  touch(row: T, column: string): void {
    const slot = this.#slots.get(row);
    if (slot !== undefined) this.#orders.get(column)?.touch(slot);
  }

  /** Rows in a group. */
  sizeOf(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** Sorts what waits to be sorted, so that the next reader need not. */
  settle(): void {
    for (const order of this.#orders.values()) order.settle();
  }

  /** The rows of a page. */
  page(query: RowQuery<T>, { order, ascending, offset, limit, after }: RowSpan): readonly T[] {
    const orders = this.#ordersOf(order);
    const candidates = this.#candidates(query);
    const passes = this.#filterOf(query, candidates);
    const span = { ascending, skip: offset, take: limit, after: after ?? null };
    const [first] = orders;
    if (first !== undefined && orders.length === 1 && isEverything(query)) {
      return this.#rowsOf(plainSlots(first, span));
    }
    const isFew = candidates !== null && candidates.size * sortedShare <= this.size;
    const slots = isFew
      ? this.#sorted([...candidates].filter(passes), orders, span)
      : this.#walk(orders, passes, span);
    return this.#rowsOf(slots);
  }

  #rowsOf(slots: readonly number[]): readonly T[] {
    return slots.flatMap((slot) => this.#rows[slot] ?? []);
  }

  /** The place of a row in the order of a column, for the page after it. */
  cursorOf(row: T, column: string): RowCursor | null {
    const slot = this.#slots.get(row);
    const [order] = this.#ordersOf([column]);
    return slot === undefined || order === undefined ? null : order.cursorOf(slot);
  }

  /** How many rows a query finds. */
  count(query: RowQuery<T>): number {
    if (isEverything(query)) return this.size;
    const candidates = this.#candidates(query);
    const passes = this.#filterOf(query, candidates);
    let count = 0;
    if (candidates !== null) for (const slot of candidates) count += passes(slot) ? 1 : 0;
    else for (let slot = 0; slot < this.#rows.length; slot += 1) count += passes(slot) ? 1 : 0;
    return count;
  }

  /** The smallest known set that holds every match; null for the whole table. */
  #candidates({ only, groups = [] }: RowQuery<T>): Slots | null {
    if (only !== undefined && only !== null) {
      return new Set(only.flatMap((row) => this.#slots.get(row) ?? []));
    }
    const sets = groups.map((names) => this.#membersOf(names));
    return sets.reduce<Slots | null>(
      (least, set) => (least === null || set.size < least.size ? set : least),
      null,
    );
  }

  #membersOf(names: string | readonly string[]): Slots {
    const several = typeof names === 'string' ? [names] : names;
    const sets = several.flatMap((name) => this.#groups.get(name) ?? []);
    const [first = none] = sets;
    return sets.length <= 1 ? first : new Set(sets.flatMap((set) => [...set]));
  }

  #filterOf(query: RowQuery<T>, candidates: Slots | null): SlotFilter {
    const { mask, want } = query.flags ?? { mask: 0, want: 0 };
    const members = query.groups?.map((names) => this.#membersOf(names)) ?? [];
    if (query.only && candidates !== null) members.push(candidates);
    const { test = null } = query;
    return (slot) => {
      if (((this.#flags[slot] ?? 0) & mask) !== want) return false;
      for (const set of members) if (!set.has(slot)) return false;
      const row = this.#rows[slot] ?? null;
      return row !== null && (test === null || test(row));
    };
  }

  /** Settled; the first one of the table when no name is known. */
  #ordersOf(names: readonly string[]): readonly RowOrder[] {
    const known = names.flatMap((name) => this.#orders.get(name) ?? []);
    const orders = known.length > 0 ? known : [...this.#orders.values()].slice(0, 1);
    for (const order of orders) order.settle();
    return orders;
  }

  #sorted(slots: number[], orders: readonly RowOrder[], span: SlotSpan): readonly number[] {
    const direction = span.ascending ? 1 : -1;
    const numberOf = (slot: number) => this.#read(slot, this.#rules.number, 0);
    slots.sort((left, right) => {
      for (const order of orders) {
        const compared = order.compareKeys(left, right);
        if (compared !== 0) return direction * compared;
      }
      return direction * (numberOf(left) - numberOf(right));
    });
    const { after, skip, take } = span;
    const [first] = orders;
    const rest =
      after === null || first === undefined
        ? slots
        : slots.filter((slot) => direction * first.compareTo(slot, after) > 0);
    return rest.slice(skip, skip + take);
  }

  /** Goes through the first order until the page is full; rows that tie in it are sorted by the others. */
  #walk(orders: readonly RowOrder[], passes: SlotFilter, span: SlotSpan): readonly number[] {
    const [first, ...others] = orders;
    if (first === undefined) return [];
    const { slots, length } = first.settle();
    const page = new SlotPage(span);
    let tied: number[] = [];
    const from = span.after === null ? 0 : stepsTo(first, span.after, span.ascending);
    for (let step = from; step < length && !page.isFull; step += 1) {
      const slot = slots[span.ascending ? step : length - 1 - step] ?? 0;
      if (!passes(slot)) continue;
      if (others.length === 0) {
        page.add(slot);
        continue;
      }
      if (tied.length > 0 && !first.ties(tied[0] ?? 0, slot)) {
        page.addSorted(tied, (rest) => this.#sortTied(tied, others, rest));
        tied = [];
      }
      tied.push(slot);
    }
    page.addSorted(tied, (rest) => this.#sortTied(tied, others, rest));
    return page.found;
  }

  #sortTied(tied: number[], orders: readonly RowOrder[], span: SlotSpan): readonly number[] {
    if (tied.length * sortedShare <= this.size) return this.#sorted(tied, orders, span);
    this.#lastMark += 1;
    const mark = this.#lastMark;
    for (const slot of tied) this.#marks[slot] = mark;
    return this.#walk(orders, (slot) => this.#marks[slot] === mark, span);
  }

  #enter(slot: number, row: T): void {
    this.#flags[slot] = this.#rules.flags(row);
    const names = this.#rules.groups(row);
    this.#namesOf[slot] = names;
    for (const name of names) {
      const members = this.#groups.get(name);
      if (members === undefined) this.#groups.set(name, new Set([slot]));
      else members.add(slot);
    }
  }

  #leave(slot: number): void {
    for (const name of this.#namesOf[slot] ?? []) {
      const members = this.#groups.get(name);
      members?.delete(slot);
      if (members?.size === 0) this.#groups.delete(name);
    }
    this.#namesOf[slot] = [];
  }

  #read<V>(slot: number, read: (row: T) => V, none: V): V {
    const row = this.#rows[slot] ?? null;
    return row === null ? none : read(row);
  }

  #reserve(length: number): void {
    if (length <= this.#flags.length) return;
    const flags = new Uint8Array(length * 2);
    flags.set(this.#flags);
    this.#flags = flags;
    this.#marks = new Uint32Array(length * 2);
    this.#lastMark = 0;
  }
}

type Slots = ReadonlySet<number>;
type SlotFilter = (slot: number) => boolean;

const none: Slots = new Set();

function isEverything<T>({ flags, groups, only, test }: RowQuery<T>): boolean {
  return (flags?.mask ?? 0) === 0 && (groups?.length ?? 0) === 0 && !only && !test;
}

/** A page that is being filled, in the direction of its walk. */
interface SlotSpan {
  readonly ascending: boolean;
  readonly skip: number;
  readonly take: number;
  readonly after: RowCursor | null;
}

/** A page of a whole order: nothing need be looked at on the way. */
function plainSlots(order: RowOrder, span: SlotSpan): readonly number[] {
  const { slots, length } = order.settle();
  const start = span.after === null ? 0 : stepsTo(order, span.after, span.ascending);
  const [from, to] = [start + span.skip, Math.min(length, start + span.skip + span.take)];
  if (span.ascending) return [...slots.subarray(from, Math.max(from, to))];
  return [...slots.subarray(length - Math.max(from, to), Math.max(0, length - from))].reverse();
}

/** Rows of a settled order up to a cursor, its own row included. */
function stepsTo(order: RowOrder, cursor: RowCursor, ascending: boolean): number {
  const { slots, length } = order.settle();
  const place = order.placeOf(cursor);
  if (!ascending) return length - place;
  const isThere = place < length && order.compareTo(slots[place] ?? 0, cursor) === 0;
  return isThere ? place + 1 : place;
}

class SlotPage {
  readonly found: number[] = [];
  readonly #span: SlotSpan;
  #skip: number;

  constructor(span: SlotSpan) {
    this.#span = span;
    this.#skip = span.skip;
  }

  get isFull(): boolean {
    return this.found.length >= this.#span.take;
  }

  add(slot: number): void {
    if (this.#skip > 0) this.#skip -= 1;
    else if (!this.isFull) this.found.push(slot);
  }

  /** Adds slots that are yet to be sorted; those that are skipped as a whole need not be. */
  addSorted(slots: readonly number[], sort: (rest: SlotSpan) => readonly number[]): void {
    if (slots.length === 0 || this.isFull) return;
    if (this.#skip >= slots.length) {
      this.#skip -= slots.length;
      return;
    }
    const { ascending, take } = this.#span;
    const rest = { ascending, skip: this.#skip, take: take - this.found.length, after: null };
    this.found.push(...sort(rest));
    this.#skip = 0;
  }
}
