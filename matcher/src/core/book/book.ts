import { assume } from '../assumption.ts';
import { at, bidFlag, OrderPool, orderWords, outcomeFlag } from './order-pool.ts';
import {
  askTouched,
  bidTouched,
  head,
  headWords,
  levelWords,
  PriceLadders,
  roomFor,
  slotMask,
} from './price-ladders.ts';

/**
 * The order books of a partition: price levels and queues, on integers, without accounts or rules.
 *
 * Promises:
 *   - one book per market in terms of token 0: a bid for token 0 at p and an offer of token 1 at 1-p are the same bid;
 *   - price first, then time; direct and complementary orders queue together in order of arrival;
 *   - no market ever crosses: an order is added only after it has filled everything it meets (`firstMaker`);
 *   - rest, reduce and remove are O(1), a new best price costs one search over a bitmap of 1 bit per tick;
 *   - all of it is flat memory (price-ladders.ts, order-pool.ts): memory is allocated only when a table doubles.
 *
 * Sizes are lots, prices 1/10000 USDC, markets and orders are slots. `touched...` and `topped...` list the changes
 * since `endRecord`; the lists are replaced when they grow.
 */
export class Book {
  readonly orders = new OrderPool();
  readonly ladders = new PriceLadders();
  /** Changed levels, each once, in order of change: the market, and its price and side (see `askMark`). */
  touchedMarkets: Int32Array<ArrayBuffer> = new Int32Array(1024);
  touchedLevels: Int32Array<ArrayBuffer> = new Int32Array(1024);
  touchedCount = 0;
  /** Markets with a changed level; their best prices before are in their heads. */
  toppedMarkets: Int32Array<ArrayBuffer> = new Int32Array(256);
  toppedCount = 0;

  /** Adds an empty book and returns its slot. */
  addMarket(tick: number): number {
    return this.ladders.add(tick);
  }

  refine(market: number, tick: number): void {
    this.ladders.refine(market, tick);
  }

  /** Best prices in 1/10000 USDC, 0 when there are none. */
  bestBid(market: number): number {
    return this.ladders.bid(market) * this.ladders.tick(market);
  }

  bestAsk(market: number): number {
    const level = this.ladders.ask(market);
    return level === this.ladders.top(market) ? 0 : level * this.ladders.tick(market);
  }

  /** Whether the best prices differ from those at the start of the record; for markets in `toppedMarkets`. */
  isTopChanged(market: number): boolean {
    const { heads } = this.ladders;
    const base = market * headWords;
    return (
      heads[base + head.bidBefore] !== this.bestBid(market) ||
      heads[base + head.askBefore] !== this.bestAsk(market)
    );
  }

  levelLots(market: number, isBid: boolean, price: number): number {
    const { ladders } = this;
    const level = ladders.levelOf(market, price);
    const ofSide = isBid ? level <= ladders.bid(market) : level >= ladders.ask(market);
    return ofSide ? ladders.totalLots(market, level) : 0;
  }

  /** The order a taker meets first at its limit or better, or -1. */
  firstMaker(market: number, takerIsBid: boolean, limit: number): number {
    const { ladders } = this;
    const level = takerIsBid ? ladders.ask(market) : ladders.bid(market);
    return this.firstWithin(market, level, takerIsBid ? limit : -limit);
  }

  /** The order it would meet after `maker`, or -1. */
  nextMaker(maker: number, takerIsBid: boolean, limit: number): number {
    const next = this.orders.get(maker, at.next);
    if (next !== -1) return next;
    const { ladders } = this;
    const market = this.orders.get(maker, at.market);
    const level = ladders.levelOf(market, this.orders.price0(maker));
    const further = takerIsBid ? ladders.above(market, level) : ladders.below(market, level);
    return this.firstWithin(market, further, takerIsBid ? limit : -limit);
  }

  /** Queues an order as the last of its price; it must be on the tick and not cross. Returns its slot. */
  rest(market: number, priceAndFlags: number, lots: number): number {
    const order = this.orders.take();
    const { ladders } = this;
    const { levels, heads } = ladders;
    const isBid = (priceAndFlags & bidFlag) !== 0;
    const price = priceAndFlags >> 2;
    const base = market * headWords;
    const level = ladders.levelOf(market, price);
    assume(level * (heads[base + head.tick] as number) === price, 'a resting order is on the tick');
    assume(
      isBid
        ? level < (heads[base + head.ask] as number)
        : level > (heads[base + head.bid] as number),
      'a resting order does not cross',
    );
    const word = (heads[base + head.levels] as number) + level * levelWords;
    this.touch(market, word, priceAndFlags);
    const last = (levels[word + 1] as number) - 1;
    const { ints } = this.orders;
    const to = order * orderWords;
    ints[to + at.restLots] = lots;
    ints[to + at.priceAndFlags] = priceAndFlags;
    ints[to + at.market] = market;
    ints[to + at.previous] = last;
    ints[to + at.next] = -1;
    levels[word + 1] = order + 1;
    ladders.addLots(word, lots);
    if (last === -1) {
      levels[word] = (levels[word] as number) | (order + 1);
      ladders.occupy(market, level, isBid);
    } else {
      ints[last * orderWords + at.next] = order;
    }
    return order;
  }

  /** Subtracts lots from a resting order, which keeps its place in the queue and at least one lot. */
  reduce(order: number, lots: number): void {
    const { ints } = this.orders;
    const from = order * orderWords;
    const left = (ints[from + at.restLots] as number) - lots;
    assume(left > 0, 'a reduced order keeps at least one lot');
    const market = ints[from + at.market] as number;
    const priceAndFlags = ints[from + at.priceAndFlags] as number;
    const { ladders } = this;
    const word = ladders.wordOf(market, ladders.levelOf(market, priceAndFlags >> 2));
    this.touch(market, word, priceAndFlags);
    ints[from + at.restLots] = left;
    ladders.addLots(word, -lots);
  }

  /** Removes an order from its queue and frees its slot. */
  remove(order: number): void {
    const { ladders } = this;
    const { levels } = ladders;
    const { ints } = this.orders;
    const from = order * orderWords;
    const market = ints[from + at.market] as number;
    const priceAndFlags = ints[from + at.priceAndFlags] as number;
    const previous = ints[from + at.previous] as number;
    const next = ints[from + at.next] as number;
    const level = ladders.levelOf(market, priceAndFlags >> 2);
    const word = ladders.wordOf(market, level);
    this.touch(market, word, priceAndFlags);
    ladders.addLots(word, -(ints[from + at.restLots] as number));
    if (previous === -1) levels[word] = ((levels[word] as number) & ~slotMask) | (next + 1);
    else ints[previous * orderWords + at.next] = next;
    if (next === -1) levels[word + 1] = previous + 1;
    else ints[next * orderWords + at.previous] = previous;
    if (previous === -1 && next === -1) ladders.vacate(market, level);
    this.orders.free(order);
  }

  /** The first order of the lowest occupied price, or -1. */
  anyOrder(market: number): number {
    const { ladders } = this;
    const lowest = ladders.above(market, 0);
    return lowest === ladders.top(market) ? -1 : ladders.first(market, lowest);
  }

  /** Where the levels of these orders are in `ladders.levels`. */
  levelsOf(orders: Int32Array, count: number, into: Int32Array): void {
    const { ints } = this.orders;
    for (let index = 0; index < count; index += 1) {
      const from = (orders[index] as number) * orderWords;
      const market = ints[from + at.market] as number;
      const price = (ints[from + at.priceAndFlags] as number) >> 2;
      into[index] = this.ladders.wordOf(market, this.ladders.levelOf(market, price));
    }
  }

  /** The orders of a market, by price and arrival. */
  ordersOf(market: number): number[] {
    const { ladders } = this;
    const top = ladders.top(market);
    const found: number[] = [];
    for (let level = ladders.above(market, 0); level < top; level = ladders.above(market, level)) {
      let order = ladders.first(market, level);
      for (; order !== -1; order = this.orders.get(order, at.next)) found.push(order);
    }
    return found;
  }

  /** Forgets the changes of the record. */
  endRecord(): void {
    const { ladders, touchedMarkets, touchedLevels, toppedMarkets } = this;
    const { levels, heads } = ladders;
    for (let index = 0; index < this.touchedCount; index += 1) {
      const market = touchedMarkets[index] as number;
      const price = (touchedLevels[index] as number) & priceMask;
      const word = ladders.wordOf(market, ladders.levelOf(market, price));
      levels[word] = (levels[word] as number) & slotMask;
    }
    for (let index = 0; index < this.toppedCount; index += 1) {
      heads[(toppedMarkets[index] as number) * headWords + head.isTopped] = 0;
    }
    this.touchedCount = 0;
    this.toppedCount = 0;
  }

  private firstWithin(market: number, level: number, signedLimit: number): number {
    const { ladders } = this;
    if (level === 0 || level === ladders.top(market)) return -1;
    const price = level * ladders.tick(market);
    if ((signedLimit > 0 ? price : -price) > signedLimit) return -1;
    return ladders.first(market, level);
  }

  /** Records the changed level at `word`, once for each record and side. */
  private touch(market: number, word: number, priceAndFlags: number): void {
    const { levels, heads } = this.ladders;
    const isBid = (priceAndFlags & bidFlag) !== 0;
    const mark = isBid ? bidTouched : askTouched;
    const first = levels[word] as number;
    if ((first & mark) !== 0) return;
    levels[word] = first | mark;
    if (this.touchedCount === this.touchedLevels.length) this.growTouched();
    this.touchedMarkets[this.touchedCount] = market;
    this.touchedLevels[this.touchedCount] = (isBid ? 0 : askMark) | (priceAndFlags >> 2);
    this.touchedCount += 1;
    if (heads[market * headWords + head.isTopped] === 0) this.top(market);
  }

  /** Keeps the best prices before the first change. */
  private top(market: number): void {
    const { heads } = this.ladders;
    const base = market * headWords;
    heads[base + head.isTopped] = 1;
    heads[base + head.bidBefore] = this.bestBid(market);
    heads[base + head.askBefore] = this.bestAsk(market);
    this.toppedMarkets = roomFor(this.toppedMarkets, this.toppedCount + 1);
    this.toppedMarkets[this.toppedCount] = market;
    this.toppedCount += 1;
  }

  private growTouched(): void {
    this.touchedMarkets = roomFor(this.touchedMarkets, this.touchedCount + 1);
    this.touchedLevels = roomFor(this.touchedLevels, this.touchedCount + 1);
  }
}

/** A changed level is its price, marked when it is an ask; asks of a market sort after its bids. */
export const askMark = 16_384;
export const priceMask = askMark - 1;

export function packPrice(price0: number, isBid: boolean, outcome: number): number {
  return (price0 << 2) | (isBid ? bidFlag : 0) | (outcome & outcomeFlag);
}
