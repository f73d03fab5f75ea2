import { sortSlots } from './sort-slots.ts';

/**
 * Resting orders as records of 16 words (one cache line) in flat memory, with a free list. An order keeps its slot while
 * it rests; slots are reused and never show outside. `ints` and `floats` are replaced when the pool grows.
 */
export class OrderPool {
  ints = new Int32Array(1024 * orderWords);
  floats = new Float64Array(this.ints.buffer);
  count = 0;
  private freeHead = -1;
  private fresh = 0;
  /** Orders get ascending arrival numbers; only their order means anything. */
  private nextArrival = 1;

  /** A new order with every field zero but its arrival. */
  take(): number {
    if (this.freeHead === -1 && (this.fresh + 1) * orderWords > this.ints.length) this.grow();
    let order = this.freeHead;
    if (order === -1) {
      order = this.fresh;
      this.fresh += 1;
    } else {
      this.freeHead = this.ints[order * orderWords + at.next] as number;
      for (let word = 0; word < orderWords; word += 1) this.ints[order * orderWords + word] = 0;
    }
    this.floats[order * orderFloats + floatAt.arrival] = this.nextArrival;
    this.nextArrival += 1;
    this.count += 1;
    return order;
  }

  free(order: number): void {
    this.ints[order * orderWords + at.restLots] = 0;
    this.ints[order * orderWords + at.next] = this.freeHead;
    this.freeHead = order;
    this.count -= 1;
  }

  get(order: number, field: number): number {
    return this.ints[order * orderWords + field] as number;
  }

  set(order: number, field: number, value: number): void {
    this.ints[order * orderWords + field] = value;
  }

  arrival(order: number): number {
    return this.floats[order * orderFloats + floatAt.arrival] as number;
  }

  /** When a GTD order leaves the book; 0 for others. */
  expiresAtMs(order: number): number {
    return this.floats[order * orderFloats + floatAt.expiresAtMs] as number;
  }

  setExpiresAtMs(order: number, timeMs: number): void {
    this.floats[order * orderFloats + floatAt.expiresAtMs] = timeMs;
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

  /** Every resting order, oldest first. */
  byArrival(): Int32Array {
    return this.sortByArrival(this.resting());
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

  /** Slots are below. */
  get capacity(): number {
    return this.fresh;
  }

  private grow(): void {
    const ints = new Int32Array(this.ints.length * 2);
    ints.set(this.ints);
    this.ints = ints;
    this.floats = new Float64Array(ints.buffer);
  }
}

/** Words of an order record. Owner fields (memory .. builder) mean nothing to the book. */
export const at = {
  restLots: 0,
  priceAndFlags: 1,
  market: 2,
  previous: 3,
  next: 4,
  memory: 5,
  wallet: 6,
  position: 7,
  account: 8,
  builder: 9,
  accountPrevious: 10,
  accountNext: 11,
} as const;

const floatAt = { arrival: 6, expiresAtMs: 7 } as const;
/** First of the two words that the expiry lies over. */
export const expiryWord = floatAt.expiresAtMs * 2;
const orderWords = 16;
const orderFloats = orderWords / 2;

export const outcomeFlag = 1;
export const bidFlag = 2;
