import type { OrderId } from '@pm/schemas/ids';
import { signedAheadMaxMs } from '@pm/schemas/log/log-rules';
import { isLasting, type OrderResult } from '../orders/order-result.ts';
import {
  idBytes,
  type ReadResult,
  readResult,
  recordBytes,
  writeEnded,
  writeResult,
} from './result-record.ts';

/** Records of one block of memory; blocks are allocated when they are needed. */
const blockRecords = 4_096;

/** Bytes of a result: its record, and its places in the index, of which at most half are in use. */
export const resultBytes = recordBytes + 16;

export interface RecentResultsOptions {
  /** Largest amount of memory. It is used up at `bytesMax / resultBytes` results. */
  readonly bytesMax: number;
  /** Whole number that no client knows: order ids cannot be chosen to share a place of the index. */
  readonly seed: number;
}

/**
 * The newest results by order id, of every ingress, so that a repeated order whose money is spent by now still gets its
 * first result. Full, it forgets the oldest; and it knows what it may have forgotten, by the clocks of the partitions:
 * the matcher judged by these when an order was signed. Records stand in flat memory in the order in which they came,
 * and an open hash table has their numbers.
 */
export class RecentResults {
  readonly #seed: number;
  readonly #max: number;
  readonly #blocks: Buffer[] = [];
  readonly #id = Buffer.alloc(idBytes);
  /** Number of a record + 1; 0 is free. */
  #index = new Int32Array(1_024);
  /** Number of the oldest record, and how many there are from it on. */
  #oldest = 0;
  #size = 0;
  /** By partition, its clock after which every lasting result is here; absent while none is read. */
  readonly #completeSinceMs = new Map<number, number>();

  constructor({ bytesMax, seed }: RecentResultsOptions) {
    this.#seed = seed;
    this.#max = Math.max(1, Math.floor(bytesMax / resultBytes));
  }

  /** Every result after these clocks of the partitions will be kept, Unix milliseconds. */
  begin(clocksMs: ReadonlyMap<number, number>): void {
    for (const [partition, clockMs] of clocksMs) this.#completeSinceMs.set(partition, clockMs);
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.#blocks.length * blockRecords * recordBytes + this.#index.byteLength;
  }

  recall(orderId: OrderId): OrderResult | undefined {
    return this.#find(orderId)?.result;
  }

  partitionOf(orderId: OrderId): number | undefined {
    return this.#find(orderId)?.partition;
  }

  /**
   * Whether an order signed then may have a result on this partition that is not here. `aheadMaxMs`: how far the clock
   * of its signer may have been ahead; by default as far as the matcher allows.
   */
  mayHaveForgotten(
    partition: number,
    signedAtMs: number,
    aheadMaxMs: number = signedAheadMaxMs,
  ): boolean {
    return signedAtMs - aheadMaxMs <= this.#sinceMs(partition);
  }

  /** Keeps a first result that will not change; `clockMs`: clock of the partition after it. */
  keep(result: OrderResult, partition: number, clockMs: number): void {
    if (!isLasting(result)) return;
    this.#readId(result.orderId);
    if (this.#index[this.#placeOf(this.#id, 0)] !== 0) return;
    if (this.#size >= this.#max) this.#forgetOldest();
    else if (2 * (this.#size + 1) > this.#index.length) this.#grow();
    const record = (this.#oldest + this.#size) % this.#max;
    const { block, from } = this.#at(record);
    this.#id.copy(block, from);
    writeResult(block, from, { result, partition, clockMs });
    this.#index[this.#placeOf(this.#id, 0)] = record + 1;
    this.#size += 1;
  }

  /** Notes that an order has left the book, if its result is kept: raw bytes of its id. */
  end(orderId: Buffer): void {
    const record = this.#index[this.#placeOf(orderId, 0)] ?? 0;
    if (record === 0) return;
    const { block, from } = this.#at(record - 1);
    writeEnded(block, from);
  }

  #find(orderId: OrderId): ReadResult | undefined {
    this.#readId(orderId);
    const record = this.#index[this.#placeOf(this.#id, 0)] ?? 0;
    if (record === 0) return undefined;
    const { block, from } = this.#at(record - 1);
    return readResult(block, from);
  }

  #sinceMs(partition: number): number {
    return this.#completeSinceMs.get(partition) ?? Number.POSITIVE_INFINITY;
  }

  #readId(orderId: OrderId): void {
    this.#id.write(orderId.slice(2), 'hex');
  }

  #forgetOldest(): void {
    const { block, from } = this.#at(this.#oldest);
    const { partition, clockMs } = readResult(block, from);
    this.#remove(this.#placeOf(block, from));
    this.#oldest = (this.#oldest + 1) % this.#max;
    this.#size -= 1;
    this.#completeSinceMs.set(partition, Math.max(this.#sinceMs(partition), clockMs));
  }

  /** The block of a record and where it begins in it. */
  #at(record: number): { readonly block: Buffer; readonly from: number } {
    const number = Math.floor(record / blockRecords);
    const block = this.#blocks[number] ?? Buffer.alloc(blockRecords * recordBytes);
    this.#blocks[number] = block;
    return { block, from: (record % blockRecords) * recordBytes };
  }

  /** The place of the id that begins at `from`, or the free one where it would stand. */
  #placeOf(bytes: Buffer, from: number): number {
    const last = this.#index.length - 1;
    let place = this.#homeOf(bytes, from);
    for (;;) {
      const record = this.#index[place] ?? 0;
      if (record === 0 || this.#isAt(record - 1, bytes, from)) return place;
      place = (place + 1) & last;
    }
  }

  #isAt(record: number, bytes: Buffer, from: number): boolean {
    const known = this.#at(record);
    return known.block.compare(bytes, from, from + idBytes, known.from, known.from + idBytes) === 0;
  }

  /** The place where the search for an id begins. */
  #homeOf(bytes: Buffer, from: number): number {
    let mixed = this.#seed | 0;
    for (let word = 0; word < idBytes; word += 4) {
      mixed = Math.imul(mixed ^ bytes.readInt32LE(from + word), 0x9e37_79b1);
      mixed ^= mixed >>> 15;
    }
    return mixed & (this.#index.length - 1);
  }

  /** Frees a place, and moves up what was put further on because of it. */
  #remove(freed: number): void {
    const last = this.#index.length - 1;
    let free = freed;
    for (let place = (free + 1) & last; this.#index[place] !== 0; place = (place + 1) & last) {
      const { block, from } = this.#at((this.#index[place] ?? 0) - 1);
      const home = this.#homeOf(block, from);
      if (((place - home) & last) < ((place - free) & last)) continue;
      this.#index[free] = this.#index[place] ?? 0;
      free = place;
    }
    this.#index[free] = 0;
  }

  #grow(): void {
    const records = this.#index.filter((record) => record !== 0);
    this.#index = new Int32Array(this.#index.length * 2);
    for (const record of records) {
      const { block, from } = this.#at(record - 1);
      this.#index[this.#placeOf(block, from)] = record;
    }
  }
}
