import { priceOne } from '@pm/schemas';

/**
 * The price levels of one market on its tick grid, in terms of token 0: level n is the price n x tick. Bids and asks share
 * the grid, since a book that does not cross never has both at one price: levels up to `bid` are bids, from `ask` on asks.
 *
 * Costs: everything is O(1) but the search for the next occupied level, which reads one bit per level, 32 at a time.
 */
export class Ladder {
  readonly tick: number;
  /** The level of price 1, which is never occupied. */
  readonly top: number;
  /** Four words per level: first and last order (-1 when empty), and as a double over the other two, its lots. */
  private readonly queues: Int32Array;
  private readonly totals: Float64Array;
  /** Whether the level changed during the record, as bid (first half) or as ask (second half). */
  readonly touched: Uint8Array;
  /** Best bid level, 0 when none. */
  bid = 0;
  /** Best ask level, `top` when none. */
  ask: number;
  private readonly occupied: Int32Array;

  constructor(tick: number) {
    this.tick = tick;
    this.top = priceOne / tick;
    this.ask = this.top;
    this.queues = new Int32Array((this.top + 1) * 4);
    this.totals = new Float64Array(this.queues.buffer);
    for (let level = 0; level <= this.top; level += 1)
      this.queues.fill(-1, level * 4, level * 4 + 2);
    this.touched = new Uint8Array(2 * (this.top + 1));
    this.occupied = new Int32Array((this.top >> 5) + 1);
  }

  /** The first order of a level, -1 when there is none. */
  head(level: number): number {
    return this.queues[level * 4] as number;
  }

  tail(level: number): number {
    return this.queues[level * 4 + 1] as number;
  }

  totalLots(level: number): number {
    return this.totals[level * 2 + 1] as number;
  }

  setHead(level: number, order: number): void {
    this.queues[level * 4] = order;
  }

  setTail(level: number, order: number): void {
    this.queues[level * 4 + 1] = order;
  }

  addLots(level: number, change: number): void {
    this.totals[level * 2 + 1] = (this.totals[level * 2 + 1] as number) + change;
  }

  /** The first order at a level makes it count. */
  occupy(level: number, isBid: boolean): void {
    const word = level >> 5;
    this.occupied[word] = (this.occupied[word] as number) | (1 << (level & 31));
    if (isBid) {
      if (level > this.bid) this.bid = level;
    } else if (level < this.ask) {
      this.ask = level;
    }
  }

  /** The last order has left the level. */
  vacate(level: number): void {
    const word = level >> 5;
    this.occupied[word] = (this.occupied[word] as number) & ~(1 << (level & 31));
    if (level === this.bid) this.bid = this.below(level);
    else if (level === this.ask) this.ask = this.above(level);
  }

  isOccupied(level: number): boolean {
    return ((this.occupied[level >> 5] as number) & (1 << (level & 31))) !== 0;
  }

  /** The next occupied level below, or 0. */
  below(level: number): number {
    let word = level >> 5;
    let bits = (this.occupied[word] as number) & ((1 << (level & 31)) - 1);
    while (bits === 0) {
      word -= 1;
      if (word < 0) return 0;
      bits = this.occupied[word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits);
  }

  /** The next occupied level above, or `top`. */
  above(level: number): number {
    let word = level >> 5;
    let bits = (this.occupied[word] as number) & ~((2 << (level & 31)) - 1);
    while (bits === 0) {
      word += 1;
      if (word >= this.occupied.length) return this.top;
      bits = this.occupied[word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }

  /** The same levels on a finer grid; queues stay as they are. */
  refined(tick: number): Ladder {
    const finer = new Ladder(tick);
    const factor = this.tick / tick;
    for (let level = 0; level <= this.top; level += 1) {
      const to = level * factor;
      finer.setHead(to, this.head(level));
      finer.setTail(to, this.tail(level));
      finer.addLots(to, this.totalLots(level));
      finer.touched[to] = this.touched[level] as number;
      finer.touched[finer.top + 1 + to] = this.touched[this.top + 1 + level] as number;
      if (this.isOccupied(level)) finer.occupy(to, level <= this.bid);
    }
    return finer;
  }
}
