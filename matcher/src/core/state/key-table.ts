import { assume } from '../assumption.ts';
import { DeferredSlots } from './deferred-slots.ts';

/**
 * A hash table from keys of a fixed number of 32-bit words to records in flat memory.
 *
 * Promises: a record keeps its slot until it is removed; find, insert and remove are O(1) and make no garbage; slots
 * and the order of the table never show outside (code that lists records sorts them). The first words of a record are
 * its key, the rest belongs to the owner of the table, as 32-bit integers (`ints`) or doubles (`floats`) over the same
 * memory. Both views are replaced when the table grows: read them again after every insert.
 */
export class KeyTable {
  readonly keyWords: number;
  /** 32-bit words of a record, even, so that doubles are aligned. */
  readonly stride: number;
  ints: Int32Array;
  floats: Float64Array;
  count = 0;
  /** The key that `find` and `insert` work on. */
  readonly key: Int32Array;
  /** Records that fit; every slot is smaller. */
  capacity = 64;
  private freeHead = -1;
  private fresh = 0;
  private readonly isShared: boolean;
  /** Slots of records that were removed while another thread reads them. */
  readonly held = new DeferredSlots();
  /** Records that are found no more and keep their slots. */
  private detached = 0;
  /** Pairs (hash, slot); slot -1 is an empty place. Twice as many places as records, at least. */
  private places: Int32Array;
  private mask: number;
  /** Hash of the key of the last `find`. */
  private foundHash = 0;

  /** Shared records can be read by other threads. */
  constructor(keyWords: number, stride: number, isShared = false) {
    assume(stride % 2 === 0 && stride >= keyWords, 'a record has room for its key');
    this.keyWords = keyWords;
    this.stride = stride;
    this.isShared = isShared;
    this.key = new Int32Array(keyWords);
    this.ints = newWords(this.capacity * stride, isShared);
    this.floats = new Float64Array(this.ints.buffer);
    this.places = new Int32Array(this.capacity * 4).fill(-1);
    this.mask = this.capacity * 2 - 1;
  }

  /** Puts all of `bytes` into the key from word `at` on. */
  load(at: number, bytes: Buffer): void {
    readWords(bytes, this.key, at);
  }

  /** The slot of the key that is these bytes, or -1; loads it. */
  findBytes(bytes: Buffer): number {
    return this.findHashed(this.loadHashed(bytes));
  }

  /** The slot of the key that consists of these two parts, or -1; loads it. */
  findParts(first: Buffer, second: Buffer): number {
    readWords(first, this.key, 0);
    readWords(second, this.key, first.length >> 2);
    return this.find();
  }

  /** Takes the key from words at `from`. */
  loadWords(words: Int32Array, from: number): void {
    for (let word = 0; word < this.keyWords; word += 1) {
      this.key[word] = words[from + word] as number;
    }
  }

  /** The slot of the loaded key, or -1. */
  find(): number {
    return this.findHashed(this.hashLoaded());
  }

  /** The slot of the loaded key, whose hash is given, or -1. */
  findHashed(hash: number): number {
    const { places, mask } = this;
    this.foundHash = hash;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = places[at * 2 + 1] as number;
      if (slot === -1) return -1;
      if (places[at * 2] === hash && this.matches(slot)) return slot;
    }
  }

  /** Loads a whole key and returns its hash, for `findHashed`. */
  loadHashed(bytes: Buffer): number {
    readWords(bytes, this.key, 0);
    return this.hashLoaded();
  }

  /** The hash of the loaded key. */
  hashLoaded(): number {
    return hashOf(this.key, 0, this.keyWords);
  }

  /**
   * Looks where the searches for keys of these hashes begin: a slot where the key is likely the one, else -1. A loop of
   * its own, so that the processor waits for all places at once (look-ahead.ts).
   */
  probeAll(hashes: Int32Array, count: number, slots: Int32Array): void {
    const { places, mask } = this;
    for (let index = 0; index < count; index += 1) {
      const hash = hashes[index] as number;
      const at = (hash & mask) * 2;
      slots[index] = places[at] === hash ? (places[at + 1] as number) : -1;
    }
  }

  /** Adds the loaded key right after `find` did not find it; the words after the key are zero. */
  insert(): number {
    const occupied = this.count + this.detached + this.held.count;
    if (occupied === this.capacity) this.grow(this.capacity * 2);
    const slot = this.takeSlot();
    const base = slot * this.stride;
    const { ints, key, keyWords, stride } = this;
    for (let word = 0; word < keyWords; word += 1) ints[base + word] = key[word] as number;
    for (let word = keyWords; word < stride; word += 1) ints[base + word] = 0;
    this.putPlace(this.foundHash, slot);
    this.count += 1;
    return slot;
  }

  remove(slot: number): void {
    this.detach(slot);
    this.release(slot);
  }

  /** The first half of `remove`: the key is found no more, and the record keeps its slot. */
  detach(slot: number): void {
    const base = slot * this.stride;
    let at = hashOf(this.ints, base, this.keyWords) & this.mask;
    while (this.places[at * 2 + 1] !== slot) {
      assume(this.places[at * 2 + 1] !== -1, 'a removed key is in the table');
      at = (at + 1) & this.mask;
    }
    this.closeHole(at);
    this.count -= 1;
    this.detached += 1;
  }

  /** The second half: the slot may be used again. */
  release(slot: number): void {
    this.detached -= 1;
    if (this.held.hold(slot)) return;
    this.ints[slot * this.stride] = this.freeHead;
    this.freeHead = slot;
  }

  /** The slots in use, ascending, which is the order of their memory. */
  slots(): Int32Array {
    return slotsOf(this.freeze(asItIs));
  }

  /** Slots that were ever used; every slot is smaller. */
  get everUsed(): number {
    return this.fresh;
  }

  /** Parts of the table that `slotsOf` and readers of records need, copied by `copy`. */
  freeze(copy: CopyWords): FrozenTable {
    const { keyWords, stride, capacity, count } = this;
    const records = this.fresh * stride;
    const ints = copy(this.ints.subarray(0, records));
    return { keyWords, stride, capacity, count, ints, places: copy(this.places) };
  }

  /** A new Buffer with `length` bytes of the record, from word `word` on. */
  bytes(slot: number, word: number, length: number): Buffer {
    return writeWords(this.ints, slot * this.stride + word, length);
  }

  private matches(slot: number): boolean {
    const { ints, key, keyWords } = this;
    const base = slot * this.stride;
    for (let word = 0; word < keyWords; word += 1) {
      if (ints[base + word] !== key[word]) return false;
    }
    return true;
  }

  private takeSlot(): number {
    const held = this.held.take();
    if (held !== -1) return held;
    const slot = this.freeHead;
    if (slot === -1) {
      this.fresh += 1;
      return this.fresh - 1;
    }
    this.freeHead = this.ints[slot * this.stride] as number;
    return slot;
  }

  private putPlace(hash: number, slot: number): void {
    let at = hash & this.mask;
    while (this.places[at * 2 + 1] !== -1) at = (at + 1) & this.mask;
    this.places[at * 2] = hash;
    this.places[at * 2 + 1] = slot;
  }

  /** Moves later keys of the run back, so that no search stops at the hole too early. */
  private closeHole(start: number): void {
    const places = this.places;
    const mask = this.mask;
    let hole = start;
    for (let at = (hole + 1) & mask; places[at * 2 + 1] !== -1; at = (at + 1) & mask) {
      const home = (places[at * 2] as number) & mask;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      places[hole * 2] = places[at * 2] as number;
      places[hole * 2 + 1] = places[at * 2 + 1] as number;
      hole = at;
    }
    places[hole * 2 + 1] = -1;
  }

  /** Makes room for this many records at once. */
  reserve(records: number): void {
    const capacity = 2 ** Math.ceil(Math.log2(records + 1));
    if (capacity > this.capacity) this.grow(capacity);
  }

  private grow(capacity: number): void {
    const old = this.places;
    this.capacity = capacity;
    const ints = newWords(this.capacity * this.stride, this.isShared);
    ints.set(this.ints);
    this.ints = ints;
    this.floats = new Float64Array(ints.buffer);
    this.places = new Int32Array(this.capacity * 4).fill(-1);
    this.mask = this.capacity * 2 - 1;
    for (let at = 0; at < old.length; at += 2) {
      const slot = old[at + 1] as number;
      if (slot !== -1) this.putPlace(old[at] as number, slot);
    }
  }
}

/**
 * Two sums of every second word, so that the processor works on both at once. The ends of products carry nothing of the
 * upper bits: the last lines move those down.
 */
function hashOf(words: Int32Array, from: number, count: number): number {
  let even = 0;
  let odd = 0;
  let word = from;
  for (const end = from + count - 1; word < end; word += 2) {
    even = Math.imul(even ^ (words[word] as number), 0x9e3779b1);
    odd = Math.imul(odd ^ (words[word + 1] as number), 0x85ebca6b);
  }
  if ((count & 1) === 1) even = Math.imul(even ^ (words[word] as number), 0x9e3779b1);
  const sum = even ^ (even >>> 16) ^ odd ^ (odd >>> 13);
  const mixed = Math.imul(sum, 0x45d9f3b5);
  return mixed ^ (mixed >>> 15);
}

/** A table at one moment. */
export interface FrozenTable {
  readonly keyWords: number;
  readonly stride: number;
  readonly capacity: number;
  readonly count: number;
  readonly ints: Int32Array;
  readonly places: Int32Array;
}

/** Copies words, or gives them as they are to who reads them before anything changes. */
export type CopyWords = (words: Int32Array) => Int32Array;

export const asItIs: CopyWords = (words) => words;

/** The slots in use, ascending, which is the order of their memory. */
export function slotsOf({ places, capacity, count: total }: FrozenTable): Int32Array {
  const isUsed = new Uint8Array(capacity);
  for (let at = 1; at < places.length; at += 2) {
    const slot = places[at] as number;
    if (slot !== -1) isUsed[slot] = 1;
  }
  const found = new Int32Array(total);
  let count = 0;
  for (let slot = 0; count < total; slot += 1) {
    if (isUsed[slot] === 0) continue;
    found[count] = slot;
    count += 1;
  }
  return found;
}

export function newWords(count: number, isShared: boolean): Int32Array {
  return isShared ? new Int32Array(new SharedArrayBuffer(count * 4)) : new Int32Array(count);
}

/** Puts bytes as little-endian words at `at`; their number is a multiple of four. */
export function readWords(bytes: Buffer, into: Int32Array, at: number): void {
  const words = bytes.length >> 2;
  for (let word = 0, from = 0; word < words; word += 1, from += 4) {
    into[at + word] =
      (bytes[from] as number) |
      ((bytes[from + 1] as number) << 8) |
      ((bytes[from + 2] as number) << 16) |
      ((bytes[from + 3] as number) << 24);
  }
}

/** The reverse of `readWords`, into a new Buffer. */
function writeWords(words: Int32Array, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let to = 0, word = at; to < length; to += 4, word += 1) {
    const value = words[word] as number;
    bytes[to] = value;
    bytes[to + 1] = value >> 8;
    bytes[to + 2] = value >> 16;
    bytes[to + 3] = value >> 24;
  }
  return bytes;
}
