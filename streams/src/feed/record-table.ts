import { assert } from '@pm/kit/assert';

/** Records of a piece of memory. */
const pieceRecords = 8_192;
const pieceShift = 13;
const pieceMask = pieceRecords - 1;
/** The hash index is in so many parts, by the highest bits of the hash: none of them takes long to grow. */
const shards = 64;
const shardShift = 26;
/** Places of a part at the beginning; always a power of two. */
const firstPlaces = 8;

/** Records that are read by their slot, or by their place in a copy. */
export interface RecordView {
  int(slot: number, word: number): number;
  /** `word` is even. */
  float(slot: number, word: number): number;
  /** A new Buffer with the key of a record. */
  keyOf(slot: number): Buffer;
}

/** A table at one moment. The pieces are its own memory, which is not changed before `thaw`. */
export interface FrozenTable {
  readonly count: number;
  /** Slots that were ever used. */
  readonly fresh: number;
  /** First of the free slots, each of which names the next one; -1 for none. */
  readonly freeHead: number;
  readonly pieces: readonly Int32Array[];
}

/**
 * A hash table from keys of a fixed number of 32-bit words to records in flat memory: a million records are some
 * hundred objects. A record keeps its slot until it is removed. The first words of a record are its key, the others
 * belong to the owner of the table: 32-bit integers at any word, doubles at even ones. Memory grows by pieces and is
 * never moved; while a copy is frozen, a piece is copied before its first change.
 */
export class RecordTable implements RecordView {
  count = 0;
  readonly #keyWords: number;
  readonly #stride: number;
  readonly #ints: Int32Array[] = [];
  readonly #floats: Float64Array[] = [];
  /** 1 for pieces that belong to a frozen copy too. */
  #frozen = new Uint8Array(0);
  #isFrozen = false;
  #freeHead = -1;
  #fresh = 0;
  /** Slot + 1 by hash, for each part; 0 for an empty place. At most half of them are in use. */
  readonly #places = Array.from({ length: shards }, () => new Int32Array(firstPlaces));
  readonly #used = new Int32Array(shards);
  readonly #key: Int32Array;

  /** `stride`: words of a record, even, with those of the key. */
  constructor(keyWords: number, stride: number) {
    assert(stride % 2 === 0 && stride >= keyWords, 'a record has room for its key');
    this.#keyWords = keyWords;
    this.#stride = stride;
    this.#key = new Int32Array(keyWords);
  }

  /** The table that was frozen. Throws when the records do not fit each other. */
  static restore(keyWords: number, stride: number, frozen: FrozenTable): RecordTable {
    const table = new RecordTable(keyWords, stride);
    for (const piece of frozen.pieces) {
      assert(piece.length === pieceRecords * stride, 'a piece is complete');
      table.#addPiece(piece);
    }
    assert(frozen.fresh <= frozen.pieces.length * pieceRecords, 'the used slots have memory');
    table.#fresh = frozen.fresh;
    table.#freeHead = frozen.freeHead;
    table.count = frozen.count;
    table.#indexUsed();
    return table;
  }

  /** The slot of a key, or -1. `bytes` are all bytes of the key. */
  find(bytes: Buffer): number {
    this.#load(bytes);
    return this.#find();
  }

  /** The slot of a key of two words, or -1. */
  findPair(first: number, second: number): number {
    this.#key[0] = first;
    this.#key[1] = second;
    return this.#find();
  }

  /** Adds the key of the `find` just before, which returned -1. The other words are zero. */
  add(): number {
    const hash = this.#hash();
    const slot = this.#takeSlot();
    const { piece, base } = this.#writable(slot);
    const words = this.#ints[piece] as Int32Array;
    words.fill(0, base, base + this.#stride);
    words.set(this.#key, base);
    this.#place(hash, slot);
    this.count += 1;
    return slot;
  }

  remove(slot: number): void {
    const hash = this.#hashOf(slot);
    const places = this.#places[hash >>> shardShift] as Int32Array;
    const mask = places.length - 1;
    let at = hash & mask;
    while (places[at] !== slot + 1) {
      assert(places[at] !== 0, 'a removed key is in the table');
      at = (at + 1) & mask;
    }
    this.#closeHole(places, at);
    this.#addUsed(hash >>> shardShift, -1);
    this.setInt(slot, 0, this.#freeHead);
    this.#freeHead = slot;
    this.count -= 1;
  }

  int(slot: number, word: number): number {
    const words = this.#ints[slot >>> pieceShift] as Int32Array;
    return words[(slot & pieceMask) * this.#stride + word] as number;
  }

  setInt(slot: number, word: number, value: number): void {
    const { piece, base } = this.#writable(slot);
    (this.#ints[piece] as Int32Array)[base + word] = value;
  }

  /** `word` is even. */
  float(slot: number, word: number): number {
    const floats = this.#floats[slot >>> pieceShift] as Float64Array;
    return floats[((slot & pieceMask) * this.#stride + word) >>> 1] as number;
  }

  setFloat(slot: number, word: number, value: number): void {
    const { piece, base } = this.#writable(slot);
    (this.#floats[piece] as Float64Array)[(base + word) >>> 1] = value;
  }

  /** A new Buffer with the key of a record. */
  keyOf(slot: number): Buffer {
    const words = this.#ints[slot >>> pieceShift] as Int32Array;
    return keyBytes(words, (slot & pieceMask) * this.#stride, this.#keyWords);
  }

  /** Copies of records in the order of their slots: what happens to the table later does not change them. */
  copy(slots: readonly number[]): RecordView {
    const stride = this.#stride;
    const words = new Int32Array(slots.length * stride);
    for (let place = 0, at = 0; place < slots.length; place += 1) {
      const slot = slots[place] as number;
      const piece = this.#ints[slot >>> pieceShift] as Int32Array;
      const base = (slot & pieceMask) * stride;
      for (let word = base; word < base + stride; word += 1, at += 1)
        words[at] = piece[word] as number;
    }
    return new CopiedRecords(words, this.#keyWords, this.#stride);
  }

  /** Slots in use, in no order that means something. */
  *slots(): Generator<number> {
    for (const places of this.#places) for (const place of places) if (place !== 0) yield place - 1;
  }

  /** The table at this moment, without copying it. One at a time, until `thaw`. */
  freeze(): FrozenTable {
    assert(!this.#isFrozen, 'one copy is frozen at a time');
    this.#isFrozen = true;
    this.#frozen = new Uint8Array(this.#ints.length).fill(1);
    const { count } = this;
    return { count, fresh: this.#fresh, freeHead: this.#freeHead, pieces: [...this.#ints] };
  }

  thaw(): void {
    this.#isFrozen = false;
    this.#frozen = new Uint8Array(0);
  }

  /** Where a record is changed. */
  readonly #spot = { piece: 0, base: 0 };

  #writable(slot: number): { readonly piece: number; readonly base: number } {
    const piece = slot >>> pieceShift;
    if (this.#isFrozen && this.#frozen[piece] === 1) this.#unshare(piece);
    this.#spot.piece = piece;
    this.#spot.base = (slot & pieceMask) * this.#stride;
    return this.#spot;
  }

  #unshare(piece: number): void {
    const copy = (this.#ints[piece] as Int32Array).slice();
    this.#ints[piece] = copy;
    this.#floats[piece] = new Float64Array(copy.buffer);
    this.#frozen[piece] = 0;
  }

  #addPiece(words: Int32Array): void {
    this.#ints.push(words);
    this.#floats.push(new Float64Array(words.buffer, words.byteOffset, words.length / 2));
  }

  #takeSlot(): number {
    const slot = this.#freeHead;
    if (slot !== -1) {
      this.#freeHead = this.int(slot, 0);
      return slot;
    }
    if (this.#fresh === this.#ints.length * pieceRecords)
      this.#addPiece(new Int32Array(pieceRecords * this.#stride));
    this.#fresh += 1;
    return this.#fresh - 1;
  }

  #load(bytes: Buffer): void {
    const key = this.#key;
    for (let word = 0, at = 0; word < this.#keyWords; word += 1, at += 4) {
      key[word] =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
    }
  }

  #find(): number {
    const hash = this.#hash();
    const places = this.#places[hash >>> shardShift] as Int32Array;
    const mask = places.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const slot = (places[at] as number) - 1;
      if (slot === -1 || this.#matches(slot)) return slot;
    }
  }

  #matches(slot: number): boolean {
    const words = this.#ints[slot >>> pieceShift] as Int32Array;
    const base = (slot & pieceMask) * this.#stride;
    for (let word = 0; word < this.#keyWords; word += 1)
      if (words[base + word] !== this.#key[word]) return false;
    return true;
  }

  #hash(): number {
    return hashOf(this.#key, 0, this.#keyWords);
  }

  #hashOf(slot: number): number {
    const words = this.#ints[slot >>> pieceShift] as Int32Array;
    return hashOf(words, (slot & pieceMask) * this.#stride, this.#keyWords);
  }

  #addUsed(shard: number, change: number): number {
    const used = (this.#used[shard] as number) + change;
    this.#used[shard] = used;
    return used;
  }

  #place(hash: number, slot: number): void {
    const shard = hash >>> shardShift;
    const places = this.#places[shard] as Int32Array;
    if (this.#addUsed(shard, 1) * 2 > places.length) this.#grow(shard, places);
    put(this.#places[shard] as Int32Array, hash, slot);
  }

  #grow(shard: number, old: Int32Array): void {
    const places = new Int32Array(old.length * 2);
    for (const place of old) if (place !== 0) put(places, this.#hashOf(place - 1), place - 1);
    this.#places[shard] = places;
  }

  /** Moves later keys of the run back, so that no search stops at the hole too early. */
  #closeHole(places: Int32Array, start: number): void {
    const mask = places.length - 1;
    let hole = start;
    for (let at = (hole + 1) & mask; places[at] !== 0; at = (at + 1) & mask) {
      const hash = this.#hashOf((places[at] as number) - 1);
      if (((at - hash) & mask) < ((at - hole) & mask)) continue;
      places[hole] = places[at] as number;
      hole = at;
    }
    places[hole] = 0;
  }

  #indexUsed(): void {
    const isFree = new Uint8Array(this.#fresh);
    let free = 0;
    for (let slot = this.#freeHead; slot !== -1; slot = this.int(slot, 0)) {
      assert(slot >= 0 && slot < this.#fresh && isFree[slot] === 0, 'free slots are a list');
      isFree[slot] = 1;
      free += 1;
    }
    assert(free + this.count === this.#fresh, 'each slot is used or free');
    for (let slot = 0; slot < this.#fresh; slot += 1)
      if (isFree[slot] === 0) this.#place(this.#hashOf(slot), slot);
  }
}

/** Records by their place in the copy. */
class CopiedRecords implements RecordView {
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #keyWords: number;
  readonly #stride: number;

  constructor(words: Int32Array, keyWords: number, stride: number) {
    this.#ints = words;
    this.#floats = new Float64Array(words.buffer, words.byteOffset, words.length / 2);
    this.#keyWords = keyWords;
    this.#stride = stride;
  }

  int(place: number, word: number): number {
    return this.#ints[place * this.#stride + word] as number;
  }

  float(place: number, word: number): number {
    return this.#floats[(place * this.#stride + word) >>> 1] as number;
  }

  keyOf(place: number): Buffer {
    return keyBytes(this.#ints, place * this.#stride, this.#keyWords);
  }
}

function keyBytes(words: Int32Array, base: number, keyWords: number): Buffer {
  const bytes = Buffer.allocUnsafe(keyWords * 4);
  for (let word = 0; word < keyWords; word += 1)
    bytes.writeInt32LE(words[base + word] as number, word * 4);
  return bytes;
}

function hashOf(words: Int32Array, from: number, count: number): number {
  let hash = 0;
  for (let word = from; word < from + count; word += 1) {
    hash = Math.imul(hash ^ (words[word] as number), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

function put(places: Int32Array, hash: number, slot: number): void {
  const mask = places.length - 1;
  let at = hash & mask;
  while (places[at] !== 0) at = (at + 1) & mask;
  places[at] = slot + 1;
}
