import { assume } from '../assumption.ts';
import { DeferredSlots } from '../state/deferred-slots.ts';
import { newWords } from '../state/key-table.ts';
import { sortSlots } from '../state/sort-slots.ts';

/**
 * Resting orders in flat memory, with a free list. An order keeps its slot while it rests; slots are reused and never
 * show outside. It has a record in each of two arrays, so that a walk along a queue reads half a cache line an order
 * and skips the words that only accounts need:
 *
 *            word 0      1                2         3          4            5             6 7
 *   ints   | rest lots | price and side | market  | previous | next       | memory      | arrival (double)    |
 *   owners | wallet    | position       | account | builder  | previous   | next        | expiry, ms (double) |
 *                                                              ... of the account
 *
 * Price and side are price0 << 2 | bid << 1 | outcome. `previous` and `next` are slots, -1 at the ends; in a free
 * record `next` is the next free one. Arrays are replaced when the pool grows: read them again after every `take`.
 * Other threads may read them: of an order that rests, all but its lots and its neighbours stays as it is.
 */
export class OrderPool {
  ints = newWords(1024 * orderWords, true);
  private floats = new Float64Array(this.ints.buffer);
  /** Grows with the first owner: a book without accounts has none. */
  private owners = newWords(0, true);
  private ownerFloats = new Float64Array(this.owners.buffer);
  count = 0;
  private freeHead = -1;
  private fresh = 0;
  /** Slots of orders that ended while another thread reads them. */
  readonly held = new DeferredSlots();
  /** Arrival numbers ascend; only their order has a meaning. */
  private nextArrival = 1;

  /** A new order with an arrival number; its other fields are undefined until they are set. */
  take(): number {
    const order = this.takeSlot();
    this.floats[order * orderDoubles + arrivalDouble] = this.nextArrival;
    this.nextArrival += 1;
    this.count += 1;
    return order;
  }

  free(order: number): void {
    const base = order * orderWords;
    this.ints[base + at.restLots] = 0;
    this.count -= 1;
    if (this.held.hold(order)) return;
    this.ints[base + at.next] = this.freeHead;
    this.freeHead = order;
  }

  get(order: number, field: number): number {
    return field < orderWords
      ? (this.ints[order * orderWords + field] as number)
      : (this.owners[order * orderWords + field - orderWords] as number);
  }

  set(order: number, field: number, value: number): void {
    if (field < orderWords) {
      this.ints[order * orderWords + field] = value;
    } else {
      if (order * orderWords >= this.owners.length) this.growOwners();
      this.owners[order * orderWords + field - orderWords] = value;
    }
  }

  /** The orders before and after these in their queues, -1 at the ends: two for each. */
  neighboursOf(orders: Int32Array, count: number, into: Int32Array): void {
    const { ints } = this;
    for (let index = 0; index < count; index += 1) {
      const from = (orders[index] as number) * orderWords;
      into[index * 2] = ints[from + at.previous] as number;
      into[index * 2 + 1] = ints[from + at.next] as number;
    }
  }

  /**
   * The orders before and after these in the lists of their accounts, two for each, and the positions of these orders.
   */
  ownersOf(orders: Int32Array, count: number, into: Int32Array, positions: Int32Array): void {
    const { owners } = this;
    for (let index = 0; index < count; index += 1) {
      const from = (orders[index] as number) * orderWords - orderWords;
      into[index * 2] = owners[from + at.accountPrevious] as number;
      into[index * 2 + 1] = owners[from + at.accountNext] as number;
      positions[index] = owners[from + at.position] as number;
    }
  }

  /** Reads orders (or -1) into the cache. */
  seeAll(orders: Int32Array, count: number): number {
    const { ints } = this;
    let seen = 0;
    for (let index = 0; index < count; index += 1) {
      seen ^= ints[Math.max(0, orders[index] as number) * orderWords] as number;
    }
    return seen;
  }

  /** Reads the fields of orders (or -1) that accounts need into the cache. */
  seeOwners(orders: Int32Array, count: number): number {
    const { owners } = this;
    let seen = 0;
    for (let index = 0; index < count; index += 1) {
      seen ^= (owners[Math.max(0, orders[index] as number) * orderWords] ?? 0) as number;
    }
    return seen;
  }

  /** Sets what accounts need of an order, but for its place in the list of its account. */
  setOwner(order: number, owner: Owner): void {
    if (order * orderWords >= this.owners.length) this.growOwners();
    const { owners } = this;
    const base = order * orderWords - orderWords;
    this.ints[order * orderWords + at.memory] = owner.memory;
    owners[base + at.wallet] = owner.wallet;
    owners[base + at.position] = owner.position;
    owners[base + at.account] = owner.account;
    owners[base + at.builder] = owner.builder;
    this.ownerFloats[order * orderDoubles + expiryDouble] = owner.expiresAtMs;
  }

  arrival(order: number): number {
    return this.floats[order * orderDoubles + arrivalDouble] as number;
  }

  /** When a GTD order leaves the book; 0 for others. */
  expiresAtMs(order: number): number {
    return this.ownerFloats[order * orderDoubles + expiryDouble] as number;
  }

  /** Price in terms of token 0, 1/10000 USDC. */
  price0(order: number): number {
    return (this.ints[order * orderWords + at.priceAndFlags] as number) >> 2;
  }

  isBid(order: number): boolean {
    return ((this.ints[order * orderWords + at.priceAndFlags] as number) & bidFlag) !== 0;
  }

  outcome(order: number): number {
    return (this.ints[order * orderWords + at.priceAndFlags] as number) & outcomeFlag;
  }

  /** The orders of this moment. Only their lots are copied, to `lots`, which has room for `slots` of them. */
  freeze(lots: Int32Array): FrozenOrders {
    const { ints, owners, count, fresh } = this;
    for (let order = 0, word = at.restLots; order < fresh; order += 1, word += orderWords) {
      lots[order] = ints[word] as number;
    }
    return { ints, owners, lots, count, fresh };
  }

  /** Slots that were ever used. */
  get slots(): number {
    return this.fresh;
  }

  sortByArrival(orders: Int32Array): Int32Array {
    return sortSlots(orders, (order) => this.arrival(order));
  }

  /** Every resting order, in no particular order. */
  resting(): Int32Array {
    const orders = new Int32Array(this.count);
    let found = 0;
    for (let order = 0; order < this.fresh; order += 1) {
      if (this.get(order, at.restLots) === 0) continue;
      orders[found] = order;
      found += 1;
    }
    return orders;
  }

  private takeSlot(): number {
    const held = this.held.take();
    if (held !== -1) return held;
    const order = this.freeHead;
    if (order !== -1) {
      this.freeHead = this.ints[order * orderWords + at.next] as number;
      return order;
    }
    if ((this.fresh + 1) * orderWords > this.ints.length) this.grow();
    this.fresh += 1;
    return this.fresh - 1;
  }

  private grow(): void {
    const ints = newWords(this.ints.length * 2, true);
    assume(ints.length / orderWords <= ordersMax, 'slots fit the words of a level');
    ints.set(this.ints);
    this.ints = ints;
    this.floats = new Float64Array(ints.buffer);
  }

  private growOwners(): void {
    const owners = newWords(this.ints.length, true);
    owners.set(this.owners);
    this.owners = owners;
    this.ownerFloats = new Float64Array(owners.buffer);
  }
}

/** Id, wallet, position, account and builder code of a resting order, as slots, and its expiry. */
export interface Owner {
  readonly memory: number;
  readonly wallet: number;
  readonly position: number;
  readonly account: number;
  readonly builder: number;
  readonly expiresAtMs: number;
}

/** The orders of one moment. Lots are by slot, 0 for free ones; of the records all but lots and neighbours counts. */
export interface FrozenOrders {
  readonly ints: Int32Array;
  readonly owners: Int32Array;
  readonly lots: Int32Array;
  /** How many rest. */
  readonly count: number;
  /** Slots that were ever used. */
  readonly fresh: number;
}

/** Every resting order, oldest first. */
export function ordersByArrival({ ints, lots, count, fresh }: FrozenOrders): Int32Array {
  const orders = new Int32Array(count);
  let found = 0;
  for (let order = 0; order < fresh; order += 1) {
    if (lots[order] === 0) continue;
    orders[found] = order;
    found += 1;
  }
  const arrivals = new Float64Array(ints.buffer);
  return sortSlots(orders, (order) => arrivals[order * orderDoubles + arrivalDouble] as number);
}

/** Words of a record, in either array. */
export const orderWords = 8;
const orderDoubles = orderWords / 2;
const arrivalDouble = 3;
const expiryDouble = 3;
/** A level keeps a slot plus one in 30 bits (price-ladders.ts). */
const ordersMax = 2 ** 30;

/** Words of an order: those of `ints`, then those of `owners`. The book uses neither `owners` nor `memory`. */
export const at = {
  restLots: 0,
  priceAndFlags: 1,
  market: 2,
  previous: 3,
  next: 4,
  memory: 5,
  wallet: orderWords,
  position: orderWords + 1,
  account: orderWords + 2,
  builder: orderWords + 3,
  accountPrevious: orderWords + 4,
  accountNext: orderWords + 5,
} as const;

/** First of the two words of the expiry. */
export const expiryWord = orderWords + 2 * expiryDouble;

export const outcomeFlag = 1;
export const bidFlag = 2;
