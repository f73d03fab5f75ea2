import { priceOne } from '@pm/schemas/money';
import { assume } from '../assumption.ts';

/**
 * The price levels of all markets in flat memory. A market is a grid of ticks in terms of token 0: level n is the price
 * n x tick. Bids and asks share the grid, since a book that does not cross never has both at one price: levels up to
 * the best bid are bids, from the best ask on asks. Prices are bounded, so a level is found by its number alone.
 *
 *   heads   16 words a market, one cache line: tick, top, best bid, best ask, where its levels and bits begin,
 *           and its best prices at the start of the record, once something changed
 *   bits    1 bit a level: whether orders rest there
 *   levels  4 words a level: | ask touched, bid touched, first order + 1 | last order + 1 | lots (double) |
 *                                bit 31       bit 30       bits 0 to 29
 *
 * A level of zeros is empty and unmarked. A mark says that the level changed during the record on that side. Everything
 * is O(1) but the search for the next occupied level, which reads the bits 32 at a time. Arrays are replaced when a
 * market is added. A refined market gets new levels, and its few coarse ones stay unused: a tick only ever gets finer.
 */
export class PriceLadders {
  /** How many markets there are. */
  count = 0;
  heads: Int32Array<ArrayBuffer> = new Int32Array(16 * headWords);
  levels: Int32Array<ArrayBuffer> = new Int32Array(4096 * levelWords);
  lots = new Float64Array(this.levels.buffer);
  private bits: Int32Array<ArrayBuffer> = new Int32Array(4096 / 32);
  private levelsUsed = 0;
  private bitsUsed = 0;

  /** Adds an empty market and returns its number here. */
  add(tick: number): number {
    const market = this.count;
    this.heads = roomFor(this.heads, (market + 1) * headWords);
    this.count += 1;
    this.layOut(market, tick);
    return market;
  }

  tick(market: number): number {
    return this.heads[market * headWords + head.tick] as number;
  }

  /** The level of price 1, which is never occupied. */
  top(market: number): number {
    return this.heads[market * headWords + head.top] as number;
  }

  /** Best bid level, 0 when none. */
  bid(market: number): number {
    return this.heads[market * headWords + head.bid] as number;
  }

  /** Best ask level, `top` when none. */
  ask(market: number): number {
    return this.heads[market * headWords + head.ask] as number;
  }

  /** The level of a price on the tick. Multiplying by a rounded-up 65536 / tick is exact for prices up to 1. */
  levelOf(market: number, price: number): number {
    return Math.imul(price, this.heads[market * headWords + head.perTick] as number) >>> 16;
  }

  /** Where a level is in `levels`; its lots are the double at half of that plus one. */
  wordOf(market: number, level: number): number {
    return (this.heads[market * headWords + head.levels] as number) + level * levelWords;
  }

  /** The first order of a level, -1 when there is none. */
  first(market: number, level: number): number {
    return ((this.levels[this.wordOf(market, level)] as number) & slotMask) - 1;
  }

  last(market: number, level: number): number {
    return (this.levels[this.wordOf(market, level) + 1] as number) - 1;
  }

  /** The last orders of levels that begin at these words, -1 for empty ones. */
  lastOf(levelWords: Int32Array, count: number, orders: Int32Array): void {
    const { levels } = this;
    for (let index = 0; index < count; index += 1) {
      orders[index] = (levels[(levelWords[index] as number) + 1] as number) - 1;
    }
  }

  totalLots(market: number, level: number): number {
    return this.lots[(this.wordOf(market, level) >> 1) + 1] as number;
  }

  /** Changes the total of the level at `word`. */
  addLots(word: number, change: number): void {
    const double = (word >> 1) + 1;
    this.lots[double] = (this.lots[double] as number) + change;
  }

  /** Marks a level as occupied when its first order arrives. */
  occupy(market: number, level: number, isBid: boolean): void {
    const base = market * headWords;
    const word = (this.heads[base + head.bits] as number) + (level >> 5);
    this.bits[word] = (this.bits[word] as number) | (1 << (level & 31));
    if (isBid) {
      if (level > (this.heads[base + head.bid] as number)) this.heads[base + head.bid] = level;
    } else if (level < (this.heads[base + head.ask] as number)) {
      this.heads[base + head.ask] = level;
    }
  }

  /** Marks a level as empty when its last order left. */
  vacate(market: number, level: number): void {
    const base = market * headWords;
    const word = (this.heads[base + head.bits] as number) + (level >> 5);
    this.bits[word] = (this.bits[word] as number) & ~(1 << (level & 31));
    if (level === this.heads[base + head.bid]) {
      this.heads[base + head.bid] = this.below(market, level);
    } else if (level === this.heads[base + head.ask]) {
      this.heads[base + head.ask] = this.above(market, level);
    }
  }

  isOccupied(market: number, level: number): boolean {
    const word = (this.heads[market * headWords + head.bits] as number) + (level >> 5);
    return ((this.bits[word] as number) & (1 << (level & 31))) !== 0;
  }

  /** The next occupied level below, or 0. */
  below(market: number, level: number): number {
    const start = this.heads[market * headWords + head.bits] as number;
    let word = level >> 5;
    let bits = (this.bits[start + word] as number) & ((1 << (level & 31)) - 1);
    while (bits === 0) {
      word -= 1;
      if (word < 0) return 0;
      bits = this.bits[start + word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits);
  }

  /** The next occupied level above, or `top`. */
  above(market: number, level: number): number {
    const base = market * headWords;
    const start = this.heads[base + head.bits] as number;
    const top = this.heads[base + head.top] as number;
    let word = level >> 5;
    let bits = (this.bits[start + word] as number) & ~((2 << (level & 31)) - 1);
    while (bits === 0) {
      word += 1;
      if (word > top >> 5) return top;
      bits = this.bits[start + word] as number;
    }
    return (word << 5) + 31 - Math.clz32(bits & -bits);
  }

  /** Puts the market on a finer grid; queues and marks stay as they are. */
  refine(market: number, tick: number): void {
    const coarse = this.tick(market);
    const factor = coarse / tick;
    const top = this.top(market);
    const from = this.wordOf(market, 0);
    const [bid, ask] = [this.bid(market), this.ask(market)];
    this.layOut(market, tick);
    for (let level = 0; level < top; level += 1) {
      const to = this.wordOf(market, level * factor);
      const old = from + level * levelWords;
      for (let word = 0; word < levelWords; word += 1) {
        this.levels[to + word] = this.levels[old + word] as number;
        this.levels[old + word] = 0;
      }
      if (this.first(market, level * factor) !== -1) {
        this.occupy(market, level * factor, level <= bid);
      }
    }
    assume(this.bid(market) === bid * factor, 'a refined book has the same best bid');
    assume(this.ask(market) === ask * factor, 'a refined book has the same best ask');
  }

  /** Gives a market empty levels after all others. */
  private layOut(market: number, tick: number): void {
    const top = priceOne / tick;
    const base = market * headWords;
    this.heads[base + head.tick] = tick;
    this.heads[base + head.top] = top;
    this.heads[base + head.bid] = 0;
    this.heads[base + head.ask] = top;
    this.heads[base + head.levels] = this.levelsUsed * levelWords;
    this.heads[base + head.bits] = this.bitsUsed;
    this.heads[base + head.perTick] = Math.ceil(65_536 / tick);
    this.levelsUsed += top + 1;
    this.bitsUsed += (top >> 5) + 1;
    this.bits = roomFor(this.bits, this.bitsUsed);
    this.levels = roomFor(this.levels, this.levelsUsed * levelWords);
    if (this.lots.buffer !== this.levels.buffer) this.lots = new Float64Array(this.levels.buffer);
  }
}

/** The array itself, or a copy with room for at least `words`. */
export function roomFor(array: Int32Array<ArrayBuffer>, words: number): Int32Array<ArrayBuffer> {
  if (words <= array.length) return array;
  const grown = new Int32Array(Math.max(words, array.length * 2));
  grown.set(array);
  return grown;
}

/** Words of a market's head. */
export const head = {
  tick: 0,
  top: 1,
  bid: 2,
  ask: 3,
  levels: 4,
  bits: 5,
  perTick: 6,
  /** 1 once a level changed during the record; the next two words are the best prices before. */
  isTopped: 7,
  bidBefore: 8,
  askBefore: 9,
} as const;

export const headWords = 16;
export const levelWords = 4;
export const slotMask = 2 ** 30 - 1;
export const bidTouched = 1 << 30;
export const askTouched = 1 << 31;
