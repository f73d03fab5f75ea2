import { BatchBook, commandAt, commandWords, fillWords, packPrice } from '@pm/matcher/core';
import { StreamRandom, Zipf } from './random.ts';
import { booksOf, type Shape, type Share, tokensPerMarket } from './shape.ts';

const zipfExponent = 1.05;
const usual: Share = { cancel: 0.35, take: 0.05, crossing: 0.05 };
/** Share of the cancels that come too late. */
const lateCancel = 0.015;
/** 5 shares at least, 10,000 at most. */
const lots = { min: 500, shape: 1.25, max: 1_000_000 } as const;
const spreadOfPrices = 0.06;

/** Prices start and stay within these shares of 1. */
const range = { first: 0.2, start: 0.6, least: 0.1, most: 0.9 } as const;

/** Draws commands. It keeps a book, so that cancels and takers refer to existing orders. */
export class StreamMaker {
  readonly #shape: Shape;
  readonly #share: Share;
  readonly #random: StreamRandom;
  readonly #zipf: Zipf;
  readonly #batch = new BatchBook();
  /** Orders that may still rest, by book. */
  readonly #live: number[][] = [];
  /** Middle price of token 0, by market; that of token 1 is the complement. */
  readonly #middles: number[] = [];
  readonly #words: Int32Array;
  readonly #bookOf: Int32Array;
  #lastDead = -1;
  #nextId = 0;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#share = { ...usual, ...shape.share };
    this.#random = new StreamRandom(shape.seed);
    this.#zipf = new Zipf(shape.markets, zipfExponent);
    this.#words = new Int32Array(shape.commands * commandWords);
    this.#bookOf = new Int32Array(shape.commands);
    const steps = 10_000 / shape.tick;
    for (let book = 0; book < booksOf(shape); book += 1) {
      this.#batch.book.addMarket(shape.tick);
      this.#live.push([]);
    }
    for (let market = 0; market < shape.markets; market += 1) {
      const middle = range.first * steps + this.#random.below(range.start * steps);
      this.#middles.push(Math.round(middle) * shape.tick);
    }
  }

  make(): Int32Array {
    for (let index = 0; index < this.#shape.commands; index += 1) {
      this.#draw(index * commandWords);
      this.#batch.run(this.#words, index, index + 1);
      this.#noteFills();
    }
    return this.#words;
  }

  #draw(at: number): void {
    const book = this.#zipf.draw(this.#random) * tokensPerMarket + this.#random.below(2);
    const dice = this.#random.next();
    if (dice < this.#share.cancel && this.#cancel(at, book)) return;
    if (dice > 1 - this.#share.take && this.#take(at, book)) return;
    this.#add(at, book);
  }

  #cancel(at: number, book: number): boolean {
    if (this.#lastDead !== -1 && this.#random.chance(lateCancel)) {
      this.#put(at, { book: this.#bookOf[this.#lastDead] ?? 0, id: this.#lastDead });
      return true;
    }
    const live = this.#live[book] ?? [];
    while (live.length > 0) {
      const place = this.#random.below(live.length);
      const id = live[place] ?? 0;
      live[place] = live[live.length - 1] ?? 0;
      live.pop();
      if (this.#batch.restLots(id) === 0) continue;
      this.#put(at, { book, id });
      return true;
    }
    return false;
  }

  #take(at: number, book: number): boolean {
    const isBid = this.#random.chance(0.5);
    const best = this.#best(book, isBid);
    if (best === 0) return false;
    const size = this.#random.pareto(lots.min, lots.shape, lots.max);
    const price = packPrice(this.#beyond(best, isBid), isBid, 0);
    this.#put(at, { book, id: this.#nextId++, price, lots: -size });
    return true;
  }

  #add(at: number, book: number): void {
    const isBid = this.#random.chance(0.5);
    const opposite = this.#best(book, isBid);
    const crosses = opposite !== 0 && this.#random.chance(this.#share.crossing);
    const price = crosses
      ? this.#beyond(opposite, isBid)
      : this.#beside(this.#middleOf(book), isBid, opposite);
    const id = this.#nextId++;
    this.#live[book]?.push(id);
    this.#bookOf[id] = book;
    const size = this.#random.pareto(lots.min, lots.shape, lots.max);
    this.#put(at, { book, id, price: packPrice(price, isBid, 0), lots: size });
  }

  /** The best price of the other side, 0 when it is empty. */
  #best(book: number, isBid: boolean): number {
    return isBid ? this.#batch.book.bestAsk(book) : this.#batch.book.bestBid(book);
  }

  /** A price that does not cross. */
  #beside(middle: number, isBid: boolean, opposite: number): number {
    const { tick } = this.#shape;
    const away = (1 + this.#random.geometric(spreadOfPrices)) * tick;
    const wanted = isBid ? middle - away : middle + away;
    const bound = opposite === 0 ? wanted : opposite + (isBid ? -tick : tick);
    return this.#clamp(isBid ? Math.min(wanted, bound) : Math.max(wanted, bound));
  }

  #beyond(best: number, isBid: boolean): number {
    const away = this.#random.below(3) * this.#shape.tick;
    return this.#clamp(isBid ? best + away : best - away);
  }

  /** The middle of a market walks by a tick now and then. */
  #middleOf(book: number): number {
    const market = Math.floor(book / tokensPerMarket);
    let middle = this.#middles[market] ?? 0;
    if (this.#random.chance(0.02)) {
      middle += this.#random.chance(0.5) ? this.#shape.tick : -this.#shape.tick;
      middle = Math.min(range.most * 10_000, Math.max(range.least * 10_000, middle));
      this.#middles[market] = middle;
    }
    return book % tokensPerMarket === 0 ? middle : 10_000 - middle;
  }

  #clamp(price: number): number {
    return Math.min(10_000 - this.#shape.tick, Math.max(this.#shape.tick, price));
  }

  #put(at: number, command: { book: number; id: number; price?: number; lots?: number }): void {
    this.#words[at + commandAt.market] = command.book;
    this.#words[at + commandAt.order] = command.id;
    this.#words[at + commandAt.priceAndFlags] = command.price ?? 0;
    this.#words[at + commandAt.lots] = command.lots ?? 0;
  }

  #noteFills(): void {
    const { fills, fillCount } = this.#batch;
    for (let fill = 0; fill < fillCount; fill += 1) {
      const maker = fills[fill * fillWords + 1] ?? 0;
      if (this.#batch.restLots(maker) === 0) this.#lastDead = maker;
    }
  }
}
