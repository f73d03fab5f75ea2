import { type PlacedStatus, type PlaceOrder, type RefusalCode, refusalCodes } from '@pm/schemas';
import { type FirstFills, FirstFillsTable, noFills } from './first-fills.ts';
import { KeyTable } from './key-table.ts';

/**
 * Ids of orders and requests with their first result, in flat memory: 64 bytes an id, and its place in the table.
 *
 * Promises: an id is remembered until the clock passes the end of the minute it was signed in by more than the age
 * limit (a repetition is stale by then); ids of one minute are forgotten together; the id of an order that rests or is
 * delayed longer is remembered until the order ends.
 */
export class IdMemory {
  readonly table = new KeyTable(idWords, words);
  /** By slot, for ids whose flags say that there are any. */
  private readonly fills = new FirstFillsTable();
  private readonly minutes = new Map<number, Bucket>();
  private latest = noBucket();
  private forgottenBefore = Number.NEGATIVE_INFINITY;

  /** The slot of an id, or -1. */
  find(id: Buffer): number {
    return this.table.findBytes(id);
  }

  /** The same for an id that `loadId` has put at `from`, with its hash. */
  findLoaded(ids: Int32Array, from: number, hash: number): number {
    this.table.loadWords(ids, from);
    return this.table.findHashed(hash);
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

  /** The same for a minute by its number. */
  addIn(minute: number): number {
    const slot = this.addLoose();
    const bucket = this.bucket(minute);
    if (bucket.tail === -1) bucket.head = slot;
    else this.table.ints[bucket.tail * words + nextAt] = slot;
    bucket.tail = slot;
    bucket.count += 1;
    this.table.ints[slot * words + flagsAt] = 0;
    return slot;
  }

  /** Remembers it in no minute: the id of an order that is older than the memory. */
  addLoose(): number {
    const slot = this.table.insert();
    this.table.ints[slot * words + flagsAt] = looseFlag;
    this.table.ints[slot * words + orderAt] = -1;
    this.table.ints[slot * words + nextAt] = -1;
    return slot;
  }

  /** Forgets every minute that ended more than `ageLimitMs` before `timeMs`. */
  forget(timeMs: number, ageLimitMs: number): void {
    const before = Math.floor((timeMs - ageLimitMs) / minuteMs);
    if (before <= this.forgottenBefore) return;
    this.forgottenBefore = before;
    for (const minute of this.minutes.keys()) {
      if (minute < before) this.drop(minute);
    }
  }

  /** The order of the id has ended, filled completely or not. */
  end(slot: number, isFilled: boolean): void {
    this.table.ints[slot * words + orderAt] = -1;
    const flags = this.flags(slot);
    if ((flags & looseFlag) !== 0) this.remove(slot);
    else if (isFilled) this.setFlags(slot, flags | filledFlag);
  }

  /** Minutes in order, with their numbers of ids. */
  inOrder(): readonly Bucket[] {
    return [...this.minutes.values()].sort((a, b) => a.minute - b.minute);
  }

  /** The next id of its minute, or -1. */
  next(slot: number): number {
    return this.table.ints[slot * words + nextAt] as number;
  }

  /** How many ids are in no minute. */
  get looseCount(): number {
    let inMinutes = 0;
    for (const { count } of this.minutes.values()) inMinutes += count;
    return this.table.count - inMinutes;
  }

  /** Copies the canonical part of a record, its first `rowWords.id` words: the id, its signer, its flags. */
  copyRow(slot: number, to: Int32Array, at: number): void {
    const { ints } = this.table;
    const from = slot * words;
    for (let word = 0; word <= flagsAt; word += 1) to[at + word] = ints[from + word] as number;
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

  /** The same for a signer in words at `from`. */
  isSignedByWords(slot: number, signers: Int32Array, from: number): boolean {
    const base = slot * words + signerAt;
    for (let word = 0; word < signerWords; word += 1) {
      if (this.table.ints[base + word] !== signers[from + word]) return false;
    }
    return true;
  }

  flags(slot: number): number {
    return this.table.ints[slot * words + flagsAt] as number;
  }

  setFlags(slot: number, flags: number): void {
    this.table.ints[slot * words + flagsAt] = flags;
  }

  /** Changes the result of the id; whether it is loose stays. */
  setResult(slot: number, flags: number): void {
    this.setFlags(slot, flags | (this.flags(slot) & looseFlag));
  }

  firstFills(slot: number): FirstFills {
    return (this.flags(slot) & fillsFlag) === 0 ? noFills : this.fills.get(slot);
  }

  setFirstFills(slot: number, fills: FirstFills): void {
    if (fills.count === 0) return;
    this.fills.set(slot, fills);
    this.setFlags(slot, this.flags(slot) | fillsFlag);
  }

  private remove(slot: number): void {
    if ((this.flags(slot) & fillsFlag) !== 0) this.fills.remove(slot);
    this.table.remove(slot);
  }

  private bucket(minute: number): Bucket {
    if (this.latest.minute === minute) return this.latest;
    const known = this.minutes.get(minute);
    this.latest = known ?? { minute, head: -1, tail: -1, count: 0 };
    if (known === undefined) this.minutes.set(minute, this.latest);
    return this.latest;
  }

  private drop(minute: number): void {
    let slot = (this.minutes.get(minute) as Bucket).head;
    while (slot !== -1) {
      const next = this.table.ints[slot * words + nextAt] as number;
      if (this.order(slot) === -1) this.remove(slot);
      else this.setFlags(slot, this.flags(slot) | looseFlag);
      slot = next;
    }
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

function noBucket(): Bucket {
  return { minute: Number.NaN, head: -1, tail: -1, count: 0 };
}

const minuteMs = 60_000;
export const idWords = 8;
/** A record is one cache line. */
const words = 16;
export const signerWords = 5;
const signerAt = 8;
const flagsAt = 13;
const orderAt = 14;
const nextAt = 15;

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
