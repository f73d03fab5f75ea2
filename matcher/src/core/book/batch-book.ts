import { priceOne } from '@pm/schemas/money';
import { assume } from '../assumption.ts';
import { Book } from './book.ts';
import { at, bidFlag, orderWords, outcomeFlag } from './order-pool.ts';
import { roomFor } from './price-ladders.ts';

/**
 * The bare book for callers without accounts: flat commands in, flat fills out, in batches; memory is allocated only
 * when a table doubles.
 *
 *            word 0   1       2                            3
 *   command  market | order | price << 2 | buy << 1 | token | lots; 0 cancels the order, below 0 fills and never rests
 *   fill     taker  | maker | price0, the maker's          | lots
 *
 * Orders are small numbers that the caller chooses, each for one order at a time; prices are of the order's own token.
 * A cancel of an order that is not resting does nothing.
 */
export class BatchBook {
  readonly book = new Book();
  /** Fills of the last batch; valid until the next. */
  fills: Int32Array<ArrayBuffer> = new Int32Array(1024 * fillWords);
  fillCount = 0;
  /** Slot of each resting order plus one, 0 for others. */
  private places: Int32Array<ArrayBuffer> = new Int32Array(1024);

  /** Applies the commands from `start` to `end` - 1; the changes of the batch before are forgotten first. */
  run(commands: Int32Array, start: number, end: number): void {
    this.book.endRecord();
    this.fillCount = 0;
    for (let word = start * commandWords; word < end * commandWords; word += commandWords) {
      const order = commands[word + commandAt.order] as number;
      const lots = commands[word + commandAt.lots] as number;
      if (lots === 0) this.cancel(order);
      else this.place(commands, word);
    }
  }

  /** Lots of a resting order, 0 for others. */
  restLots(order: number): number {
    const place = this.places[order] ?? 0;
    return place === 0 ? 0 : this.book.orders.get(place - 1, at.restLots);
  }

  /**
   * Subtracts lots from a resting order, which keeps its place and at least one lot, as an amendment downwards does.
   */
  reduce(order: number, lots: number): void {
    const place = this.places[order] ?? 0;
    assume(place !== 0, 'a reduced order is resting');
    this.book.reduce(place - 1, lots);
  }

  private cancel(order: number): void {
    const place = this.places[order] ?? 0;
    if (place === 0) return;
    this.places[order] = 0;
    this.book.remove(place - 1);
  }

  private place(commands: Int32Array, word: number): void {
    const market = commands[word + commandAt.market] as number;
    const order = commands[word + commandAt.order] as number;
    const priceAndFlags = inBook(commands[word + commandAt.priceAndFlags] as number);
    const lots = commands[word + commandAt.lots] as number;
    const wanted = lots < 0 ? -lots : lots;
    const left = this.match(market, order, priceAndFlags, wanted);
    if (left === 0 || lots < 0) return;
    const slot = this.book.rest(market, priceAndFlags, left);
    this.book.orders.set(slot, at.memory, order);
    if (order >= this.places.length) this.places = roomFor(this.places, order + 1);
    assume(this.places[order] === 0, 'a number names one order');
    this.places[order] = slot + 1;
  }

  /** Fills the makers that the order meets; returns the lots that are left. */
  private match(market: number, taker: number, priceAndFlags: number, lots: number): number {
    const { book } = this;
    const isBid = (priceAndFlags & bidFlag) !== 0;
    const limit = priceAndFlags >> 2;
    let left = lots;
    while (left > 0) {
      const maker = book.firstMaker(market, isBid, limit);
      if (maker === -1) break;
      left -= this.fill(taker, maker, left);
    }
    return left;
  }

  private fill(taker: number, maker: number, wanted: number): number {
    const { ints } = this.book.orders;
    const from = maker * orderWords;
    const rest = ints[from + at.restLots] as number;
    const order = ints[from + at.memory] as number;
    const lots = Math.min(wanted, rest);
    const to = this.fillCount * fillWords;
    if (to === this.fills.length) this.fills = roomFor(this.fills, to + fillWords);
    this.fills[to] = taker;
    this.fills[to + 1] = order;
    this.fills[to + 2] = (ints[from + at.priceAndFlags] as number) >> 2;
    this.fills[to + 3] = lots;
    this.fillCount += 1;
    if (lots === rest) {
      this.places[order] = 0;
      this.book.remove(maker);
    } else {
      this.book.reduce(maker, lots);
    }
    return lots;
  }
}

/** A BUY of token 1 at p is an ask at 1 - p, a SELL of it a bid. Without a branch, because a random one is costly. */
function inBook(priceAndFlags: number): number {
  const outcome = priceAndFlags & outcomeFlag;
  const price = priceAndFlags >> 2;
  const price0 = (price ^ -outcome) + outcome + Math.imul(outcome, priceOne);
  return (price0 << 2) | ((priceAndFlags ^ (outcome << 1)) & bidFlag) | outcome;
}

/** Words of a command. */
export const commandAt = { market: 0, order: 1, priceAndFlags: 2, lots: 3 } as const;
export const commandWords = 4;
export const fillWords = 4;
