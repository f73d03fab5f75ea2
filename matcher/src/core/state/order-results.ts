import type { PlacedStatus } from '@pm/schemas/log/executions';
import { envelopeCommandsMax, type PlaceOrder } from '@pm/schemas/log/orders';
import { type RefusalCode, refusalCodes } from '@pm/schemas/refusals';
import { type FirstFills, FirstFillsPool, noFills } from './first-fills.ts';
import { type CopyWords, KeyTable } from './key-table.ts';

/**
 * Ids of orders and requests with their first result, in flat memory: 72 bytes an id, and its place in the table.
 *
 * Promises: an id is remembered until the clock passes the end of the minute it was signed in by more than the age
 * limit (a repetition is stale by then); ids of one minute are forgotten together; the id of an order that rests or is
 * delayed longer is remembered until the order ends.
 */
export class IdMemory {
  readonly table = new KeyTable(idWords, words, true);
  /** For ids whose flags say that there are any. */
  private readonly fills = new FirstFillsPool();
  /** By slot. Apart from the records, since they change: the records of remembered ids can be read by other threads. */
  private results = new Int32Array(this.table.capacity);
  /** By slot; means nothing for ids in no minute. */
  private minuteOf = new Int32Array(this.table.capacity);
  private readonly minutes = new Map<number, Bucket>();
  /** Ids of forgotten minutes whose records are not removed yet. */
  private readonly forgotten: Chain[] = [];
  /** Slots of forgotten ids whose records are not removed yet and for which `find` has made room already. */
  private readonly detached = new Set<number>();
  private latest = noBucket();
  private forgottenBefore = Number.NEGATIVE_INFINITY;
  /** Ids in minutes: without those whose orders are older than the memory. */
  count = 0;

  /** The slot of an id, or -1. */
  find(id: Buffer): number {
    return this.remembered(this.table.findBytes(id));
  }

  /** The slot, or -1, of an id that `loadId` has put at `from`, with its hash. */
  findLoaded(ids: Int32Array, from: number, hash: number): number {
    this.table.loadWords(ids, from);
    return this.remembered(this.table.findHashed(hash));
  }

  /** Puts the words of an id at `to` and returns its hash. */
  loadId(id: Buffer, ids: Int32Array, to: number): number {
    const hash = this.table.loadHashed(id);
    const { key } = this.table;
    for (let word = 0; word < idWords; word += 1) ids[to + word] = key[word] as number;
    return hash;
  }

  /** Turns slots (or -1) into the resting orders of those that have one; returns how many. */
  restingOf(slots: Int32Array, count: number): number {
    const { ints } = this.table;
    let found = 0;
    for (let index = 0; index < count; index += 1) {
      const slot = slots[index] as number;
      const order = slot === -1 ? -1 : (ints[slot * words + orderAt] as number);
      slots[found] = order;
      if (order >= 0) found += 1;
    }
    return found;
  }

  /** Remembers the id that `find` has just not found, as the last in the minute of `atMs`. */
  add(atMs: number): number {
    return this.addIn(Math.floor(atMs / minuteMs));
  }

  /** Remembers the id that `find` has just not found, as the last in a minute given by its number. */
  addIn(minute: number): number {
    const slot = this.addLoose();
    const bucket = this.bucket(minute);
    if (bucket.tail === -1) bucket.head = slot;
    else this.table.ints[bucket.tail * words + nextAt] = slot;
    bucket.tail = slot;
    bucket.count += 1;
    this.count += 1;
    this.results[slot] = 0;
    this.minuteOf[slot] = minute;
    return slot;
  }

  /** Remembers it in no minute: the id of an order that is older than the memory. */
  addLoose(): number {
    const slot = this.table.insert();
    if (this.table.capacity > this.results.length) this.growResults();
    this.results[slot] = looseFlag;
    this.table.ints[slot * words + orderAt] = -1;
    this.table.ints[slot * words + nextAt] = -1;
    return slot;
  }

  /**
   * Forgets every minute that ended more than `ageLimitMs` before `timeMs`. From here on its ids are not found, unless
   * their orders rest or wait; `sweep` removes the records.
   */
  forget(timeMs: number, ageLimitMs: number): void {
    const before = Math.floor((timeMs - ageLimitMs) / minuteMs);
    if (before <= this.forgottenBefore) return;
    this.forgottenBefore = before;
    for (const minute of this.minutes.keys()) {
      if (minute < before) this.drop(minute);
    }
  }

  /** Removes some records of forgotten ids: more than a record can add, so that they never pile up. */
  sweep(max = sweptPerRecord): void {
    let left = max;
    while (left > 0) {
      const [chain] = this.forgotten;
      if (chain === undefined) return;
      const slot = chain.head;
      chain.head = this.table.ints[slot * words + nextAt] as number;
      chain.count -= 1;
      if (chain.count === 0) this.forgotten.shift();
      this.sweepOne(slot);
      left -= 1;
    }
  }

  /** The order of the id has ended, filled completely or not. */
  end(slot: number, isFilled: boolean): void {
    this.table.ints[slot * words + orderAt] = -1;
    const flags = this.flags(slot);
    if ((flags & looseFlag) !== 0) this.remove(slot);
    else if (isFilled && !this.isForgotten(slot)) this.setFlags(slot, flags | filledFlag);
  }

  /** Minutes in order, with their numbers of ids. */
  inOrder(): readonly Bucket[] {
    return [...this.minutes.values()].sort((a, b) => a.minute - b.minute);
  }

  /** The ids of this moment. While `isFrozen`, their records stay; `copy` copies their flags. */
  freeze(copy: CopyWords): FrozenIds {
    const { ints, capacity, count } = this.table;
    const minutes = this.inOrder().map((bucket) => ({ ...bucket }));
    const forgotten = this.forgotten.map((chain) => ({ ...chain }));
    const flags = copy(this.results.subarray(0, this.table.everUsed));
    const hasLoose = count > this.count;
    return { ints, flags, fills: this.fills.freeze(), minutes, forgotten, capacity, hasLoose };
  }

  /** While true, records keep their memory after they are forgotten: another thread reads them. */
  set isFrozen(isFrozen: boolean) {
    this.table.held.isFrozen = isFrozen;
    this.fills.held.isFrozen = isFrozen;
  }

  id(slot: number): Buffer {
    return this.table.bytes(slot, 0, 32);
  }

  /** The resting order, `delayedMark`, or -1. */
  order(slot: number): number {
    return this.table.ints[slot * words + orderAt] as number;
  }

  setOrder(slot: number, order: number): void {
    this.table.ints[slot * words + orderAt] = order;
  }

  signer(slot: number): Buffer {
    return this.table.bytes(slot, signerAt, signerWords * 4);
  }

  /** Takes the signer from words at `from`. */
  setSignerWords(slot: number, signers: Int32Array, from: number): void {
    const to = slot * words + signerAt;
    for (let word = 0; word < signerWords; word += 1) {
      this.table.ints[to + word] = signers[from + word] as number;
    }
  }

  isSignedBy(slot: number, signer: Buffer): boolean {
    this.table.load(0, signer);
    return this.isSignedByWords(slot, this.table.key, 0);
  }

  /** Whether the id in this slot was signed by the signer in words at `from`. */
  isSignedByWords(slot: number, signers: Int32Array, from: number): boolean {
    const base = slot * words + signerAt;
    for (let word = 0; word < signerWords; word += 1) {
      if (this.table.ints[base + word] !== signers[from + word]) return false;
    }
    return true;
  }

  flags(slot: number): number {
    return this.results[slot] as number;
  }

  setFlags(slot: number, flags: number): void {
    this.results[slot] = flags;
  }

  /** Changes the result of the id; whether it is loose stays. */
  setResult(slot: number, flags: number): void {
    this.setFlags(slot, flags | (this.flags(slot) & looseFlag));
  }

  firstFills(slot: number): FirstFills {
    return (this.flags(slot) & fillsFlag) === 0 ? noFills : this.fills.get(this.fillsPlace(slot));
  }

  /** Sets them once. */
  setFirstFills(slot: number, fills: FirstFills): void {
    if (fills.count === 0) return;
    this.table.ints[slot * words + fillsAt] = this.fills.add(fills);
    this.setFlags(slot, this.flags(slot) | fillsFlag);
  }

  /** Whether its minute is forgotten, but its record not swept yet. */
  private isForgotten(slot: number): boolean {
    if (this.forgotten.length === 0) return false;
    const isLoose = ((this.results[slot] as number) & looseFlag) !== 0;
    return !isLoose && (this.minuteOf[slot] as number) < this.forgottenBefore;
  }

  private sweepOne(slot: number): void {
    if (this.detached.delete(slot)) {
      this.removeFills(slot);
      this.table.release(slot);
    } else if (this.order(slot) === -1) this.remove(slot);
    else this.setFlags(slot, this.flags(slot) | looseFlag);
  }

  /** -1 for the slot of an id that is forgotten and whose record is not removed yet; its key is free then. */
  private remembered(slot: number): number {
    if (slot === -1 || !this.isForgotten(slot) || this.order(slot) !== -1) return slot;
    this.table.detach(slot);
    this.detached.add(slot);
    return -1;
  }

  private remove(slot: number): void {
    this.removeFills(slot);
    this.table.remove(slot);
  }

  private removeFills(slot: number): void {
    if ((this.flags(slot) & fillsFlag) !== 0) this.fills.remove(this.fillsPlace(slot));
  }

  private fillsPlace(slot: number): number {
    return this.table.ints[slot * words + fillsAt] as number;
  }

  private growResults(): void {
    const results = new Int32Array(this.table.capacity);
    results.set(this.results);
    this.results = results;
    const minuteOf = new Int32Array(this.table.capacity);
    minuteOf.set(this.minuteOf);
    this.minuteOf = minuteOf;
  }

  private bucket(minute: number): Bucket {
    if (this.latest.minute === minute) return this.latest;
    const known = this.minutes.get(minute);
    this.latest = known ?? { minute, head: -1, tail: -1, count: 0 };
    if (known === undefined) this.minutes.set(minute, this.latest);
    return this.latest;
  }

  private drop(minute: number): void {
    const { head, count } = this.minutes.get(minute) as Bucket;
    if (count > 0) this.forgotten.push({ head, count });
    this.count -= count;
    this.minutes.delete(minute);
    if (this.latest.minute === minute) this.latest = noBucket();
  }
}

export interface Bucket {
  readonly minute: number;
  head: number;
  tail: number;
  count: number;
}

/** Ids of a forgotten minute, each with the next one in its record. */
interface Chain {
  head: number;
  count: number;
}

/** The remembered ids of one moment. Flags are by slot; of a record id, signer, place of fills and next count. */
export interface FrozenIds {
  readonly ints: Int32Array;
  readonly flags: Int32Array;
  /** By place, `fillsDoubles` each. */
  readonly fills: Float64Array;
  /** In order, with the slot of the first id and how many follow it. */
  readonly minutes: readonly Bucket[];
  /** Ids in no minute, if their orders are alive; not all of their flags say so yet. */
  readonly forgotten: readonly Readonly<Chain>[];
  readonly capacity: number;
  /** Whether there may be ids in no minute. */
  readonly hasLoose: boolean;
}

function noBucket(): Bucket {
  return { minute: Number.NaN, head: -1, tail: -1, count: 0 };
}

const minuteMs = 60_000;
/** Records that are removed at the end of each record of the log, which has at most 512 commands. */
const sweptPerRecord = 2 * envelopeCommandsMax;
export const idWords = 8;
export const signerWords = 5;
const signerAt = 8;
const orderAt = 14;
/** Layout of a record in words: a record is one cache line; the id comes first, its signer follows. */
export const idRecord = { words: 16, fillsAt: 13, nextAt: 15 } as const;
const { words, fillsAt, nextAt } = idRecord;

/** Takes the place of the resting order while the order is delayed. */
export const delayedMark = -2;

export const statusOfFlags = ['LIVE', 'MATCHED', 'CANCELED', 'DELAYED'] as const;
/** Its place in `statusOfFlags`. A search is cheaper than the call of `indexOf`. */
export function numberOfStatus(status: PlacedStatus): number {
  let number = 0;
  while (statusOfFlags[number] !== status) number += 1;
  return number;
}

export const statusMask = 3;
export const sellFlag = 4;
/** The order was filled completely. */
export const filledFlag = 8;
/** The id is in no minute any more and is forgotten with its order. */
export const looseFlag = 16;
/** Something was filled at placement. */
export const fillsFlag = 32;
const codeShift = 8;

/** The refusal in the flags: 0 is none, otherwise the number of the code plus one. */
export function codeOfFlags(flags: number): RefusalCode | null {
  return flags >> codeShift === 0 ? null : (refusalCodes[(flags >> codeShift) - 1] as RefusalCode);
}

/** The result of a refused order, as the memory stores it. */
export function flagsOfRefusal(side: PlaceOrder['side'], code: RefusalCode): number {
  return ((refusalCodes.indexOf(code) + 1) << codeShift) | (side === 'BUY' ? 0 : sellFlag);
}
