import { assume } from './assumption.ts';
import { Ladder } from './ladder.ts';
import { at, bidFlag, OrderPool, outcomeFlag } from './order-pool.ts';

/**
 * The order books of a partition: price levels and queues, on integers, without accounts or rules.
 *
 * Promises:
 *   - one book per market in terms of token 0: a bid for token 0 at p and an offer of token 1 at 1-p are the same bid;
 *   - price first, then time; direct and complementary orders queue together in order of arrival;
 *   - no market ever crosses: whoever adds an order first takes what it meets (`firstMaker`);
 *   - rest, reduce and remove are O(1), a new best price costs one search over a bitmap of 1 bit per tick.
 * Sizes are lots, prices 1/10000 USDC, markets and orders are slots. What changed since `endRecord` is kept in `touched`
 * and `topped`.
 */
export class Book {
  readonly orders = new OrderPool();
  readonly ladders: Ladder[] = [];
  /** Changed levels, each once, in order of change: the market, and its price and side (see `askMark`). */
  readonly touched: { readonly markets: number[]; readonly levels: number[] } = {
    markets: [],
    levels: [],
  };
  /** Markets with a changed level, and their best prices before. */
  readonly topped: { market: number; bid: number; ask: number }[] = [];
  private readonly isTopped: boolean[] = [];

  /** Adds an empty book and gives its slot. */
  addMarket(tick: number): number {
    this.ladders.push(new Ladder(tick));
    this.isTopped.push(false);
    return this.ladders.length - 1;
  }

  ladder(market: number): Ladder {
    return this.ladders[market] as Ladder;
  }

  refine(market: number, tick: number): void {
    this.ladders[market] = this.ladder(market).refined(tick);
  }

  /** Best prices in 1/10000 USDC, 0 when there are none. */
  bestBid(market: number): number {
    const ladder = this.ladder(market);
    return ladder.bid * ladder.tick;
  }

  bestAsk(market: number): number {
    const ladder = this.ladder(market);
    return ladder.ask === ladder.top ? 0 : ladder.ask * ladder.tick;
  }

  levelLots(market: number, isBid: boolean, price: number): number {
    const ladder = this.ladder(market);
    const level = price / ladder.tick;
    const ofSide = isBid ? level <= ladder.bid : level >= ladder.ask;
    return ofSide ? ladder.totalLots(level) : 0;
  }

  /** The order a taker meets first at its limit or better, or -1. */
  firstMaker(market: number, takerIsBid: boolean, limit: number): number {
    const ladder = this.ladder(market);
    const level = takerIsBid ? ladder.ask : ladder.bid;
    return this.headWithin(ladder, level, takerIsBid ? limit : -limit);
  }

  /** The order it would meet after `maker`, or -1. */
  nextMaker(maker: number, takerIsBid: boolean, limit: number): number {
    const next = this.orders.get(maker, at.next);
    if (next !== -1) return next;
    const ladder = this.ladder(this.orders.get(maker, at.market));
    const level = this.orders.price0(maker) / ladder.tick;
    const further = takerIsBid ? ladder.above(level) : ladder.below(level);
    return this.headWithin(ladder, further, takerIsBid ? limit : -limit);
  }

  /** Puts an order behind all others of its price; it must not cross. Gives its slot. */
  rest(market: number, priceAndFlags: number, lots: number): number {
    const order = this.orders.take();
    const ladder = this.ladder(market);
    const isBid = (priceAndFlags & bidFlag) !== 0;
    const level = (priceAndFlags >> 2) / ladder.tick;
    assume(isBid ? level < ladder.ask : level > ladder.bid, 'a resting order does not cross');
    const last = ladder.tail(level);
    this.orders.set(order, at.restLots, lots);
    this.orders.set(order, at.priceAndFlags, priceAndFlags);
    this.orders.set(order, at.market, market);
    this.orders.set(order, at.previous, last);
    this.orders.set(order, at.next, -1);
    this.touch(market, ladder, level, isBid);
    ladder.setTail(level, order);
    ladder.addLots(level, lots);
    if (last === -1) {
      ladder.setHead(level, order);
      ladder.occupy(level, isBid);
    } else {
      this.orders.set(last, at.next, order);
    }
    return order;
  }

  /** Takes lots from a resting order, which keeps its place; it must keep at least one. */
  reduce(order: number, lots: number): void {
    const left = this.orders.get(order, at.restLots) - lots;
    assume(left > 0, 'a reduced order keeps at least one lot');
    const market = this.orders.get(order, at.market);
    const ladder = this.ladder(market);
    const level = this.orders.price0(order) / ladder.tick;
    this.touch(market, ladder, level, this.orders.isBid(order));
    this.orders.set(order, at.restLots, left);
    ladder.addLots(level, -lots);
  }

  /** Takes an order out of its queue and frees its slot. */
  remove(order: number): void {
    const market = this.orders.get(order, at.market);
    const ladder = this.ladder(market);
    const level = this.orders.price0(order) / ladder.tick;
    const previous = this.orders.get(order, at.previous);
    const next = this.orders.get(order, at.next);
    this.touch(market, ladder, level, this.orders.isBid(order));
    if (previous === -1) ladder.setHead(level, next);
    else this.orders.set(previous, at.next, next);
    if (next === -1) ladder.setTail(level, previous);
    else this.orders.set(next, at.previous, previous);
    ladder.addLots(level, -this.orders.get(order, at.restLots));
    if (previous === -1 && next === -1) ladder.vacate(level);
    this.orders.free(order);
  }

  /** The first order of the lowest occupied price, or -1. */
  anyOrder(market: number): number {
    const ladder = this.ladder(market);
    const lowest = ladder.above(0);
    return lowest === ladder.top ? -1 : ladder.head(lowest);
  }

  /** The orders of a market, by price and arrival. */
  ordersOf(market: number): number[] {
    const ladder = this.ladder(market);
    const found: number[] = [];
    for (let level = ladder.above(0); level < ladder.top; level = ladder.above(level)) {
      let order = ladder.head(level);
      for (; order !== -1; order = this.orders.get(order, at.next)) found.push(order);
    }
    return found;
  }

  /** Forgets what changed: the next record begins. */
  endRecord(): void {
    const { markets, levels } = this.touched;
    for (let index = 0; index < levels.length; index += 1) {
      const ladder = this.ladder(markets[index] as number);
      const packed = levels[index] as number;
      const level = (packed & priceMask) / ladder.tick;
      ladder.touched[packed === (packed & priceMask) ? level : ladder.top + 1 + level] = 0;
    }
    for (const top of this.topped) this.isTopped[top.market] = false;
    markets.length = 0;
    levels.length = 0;
    this.topped.length = 0;
  }

  /**
   * The bare book for callers without accounts: takes what crosses, rests what is left, and gives the slot of the resting
   * order or -1. `onFill` sees each maker before it is reduced.
   */
  place(entry: PlainOrder, onFill?: (maker: number, lots: number) => void): number {
    let left = entry.lots;
    while (left > 0) {
      const maker = this.firstMaker(entry.market, entry.isBid, entry.price);
      if (maker === -1) break;
      const lots = Math.min(left, this.orders.get(maker, at.restLots));
      onFill?.(maker, lots);
      left -= lots;
      if (lots === this.orders.get(maker, at.restLots)) this.remove(maker);
      else this.reduce(maker, lots);
    }
    if (left === 0 || !entry.rests) return -1;
    return this.rest(entry.market, packPrice(entry.price, entry.isBid, 0), left);
  }

  private headWithin(ladder: Ladder, level: number, signedLimit: number): number {
    if (level === 0 || level === ladder.top) return -1;
    const price = level * ladder.tick;
    if ((signedLimit > 0 ? price : -price) > signedLimit) return -1;
    return ladder.head(level);
  }

  private touch(market: number, ladder: Ladder, level: number, isBid: boolean): void {
    const flag = isBid ? level : ladder.top + 1 + level;
    if (ladder.touched[flag] === 1) return;
    ladder.touched[flag] = 1;
    this.touched.markets.push(market);
    this.touched.levels.push((isBid ? 0 : askMark) | (level * ladder.tick));
    if (this.isTopped[market]) return;
    this.isTopped[market] = true;
    this.topped.push({ market, bid: this.bestBid(market), ask: this.bestAsk(market) });
  }
}

export interface PlainOrder {
  readonly market: number;
  readonly isBid: boolean;
  /** Limit in 1/10000 USDC of token 0, on the tick. */
  readonly price: number;
  readonly lots: number;
  /** False for orders that take what they can and leave. */
  readonly rests: boolean;
}

/** A changed level is its price, marked when it is an ask; asks of a market sort behind its bids. */
export const askMark = 16_384;
export const priceMask = askMark - 1;

export function packPrice(price0: number, isBid: boolean, outcome: number): number {
  return (price0 << 2) | (isBid ? bidFlag : 0) | (outcome & outcomeFlag);
}
