import { Book } from '@pm/matcher/core';
import { Random, Zipf } from './random.ts';

/** One command of a stream, without accounts: sizes in lots, prices in 1/10000 USDC of the book's own token. */
export type PlainCommand =
  | {
      readonly kind: 'add' | 'take';
      readonly book: number;
      readonly id: number;
      readonly isBid: boolean;
      readonly price: number;
      readonly lots: number;
    }
  | { readonly kind: 'cancel'; readonly book: number; readonly id: number };

/** What a stream is made of; the same shape gives the same commands. */
export interface Shape {
  readonly name: string;
  readonly seed: number;
  readonly commands: number;
  readonly markets: number;
  /** 1/10000 USDC. */
  readonly tick: number;
}

/** The shapes of `docs/figures.md`; `std` is cut to what the slow engine can do in seconds. */
export const shapes = {
  small: { name: 'small', seed: 7, commands: 300_000, markets: 100, tick: 10 },
  std: { name: 'std, cut', seed: 11, commands: 600_000, markets: 100, tick: 10 },
} as const satisfies Record<string, Shape>;

const tokensPerMarket = 2;
const zipfExponent = 1.05;
const share = { cancel: 0.35, take: 0.05, crossing: 0.05, lateCancel: 0.015 } as const;
/** 5 shares at least, 10,000 at most. */
const lots = { min: 500, shape: 1.25, max: 1_000_000 } as const;
const spreadOfPrices = 0.06;

/** Books of a shape: each token of each market is one of its own, so that any engine can run it. */
export function booksOf(shape: Shape): number {
  return shape.markets * tokensPerMarket;
}

/**
 * 60 % adds (5 % of them crossing), 35 % cancels (1.5 % of them of orders that are gone), 5 % takers that do not rest. A
 * plain book runs along, so that cancels and takers know what is there.
 */
export function makeStream(shape: Shape): PlainCommand[] {
  return new StreamMaker(shape).make();
}

class StreamMaker {
  readonly #shape: Shape;
  readonly #random: Random;
  readonly #zipf: Zipf;
  readonly #book = new Book();
  readonly #live: number[][] = [];
  readonly #middles: number[] = [];
  /** By order id: slot in the book, lots left. */
  readonly #slots: number[] = [];
  readonly #left: number[] = [];
  readonly #idOfSlot: number[] = [];
  #lastDead = -1;
  #nextId = 0;

  constructor(shape: Shape) {
    this.#shape = shape;
    this.#random = new Random(shape.seed);
    this.#zipf = new Zipf(shape.markets, zipfExponent);
    for (let book = 0; book < booksOf(shape); book += 1) {
      this.#book.addMarket(shape.tick);
      this.#live.push([]);
      this.#middles.push((200 + this.#random.below(600)) * shape.tick);
    }
  }

  make(): PlainCommand[] {
    const commands: PlainCommand[] = [];
    for (let index = 0; index < this.#shape.commands; index += 1) {
      commands.push(this.#one());
      this.#book.endRecord();
    }
    return commands;
  }

  #one(): PlainCommand {
    const book = this.#zipf.draw(this.#random) * tokensPerMarket + this.#random.below(2);
    const dice = this.#random.next();
    if (dice < share.cancel) {
      const cancel = this.#cancel(book);
      if (cancel !== null) return cancel;
    }
    return dice > 1 - share.take ? this.#take(book) : this.#add(book);
  }

  #cancel(book: number): PlainCommand | null {
    if (this.#lastDead !== -1 && this.#random.chance(share.lateCancel)) {
      return { kind: 'cancel', book: this.#bookOfDead, id: this.#lastDead };
    }
    const live = this.#live[book] ?? [];
    while (live.length > 0) {
      const at = this.#random.below(live.length);
      const id = live[at] ?? 0;
      live[at] = live[live.length - 1] ?? 0;
      live.pop();
      if ((this.#left[id] ?? 0) === 0) continue;
      this.#book.remove(this.#slots[id] ?? 0);
      this.#left[id] = 0;
      return { kind: 'cancel', book, id };
    }
    return null;
  }

  #bookOfDead = 0;

  #take(book: number): PlainCommand {
    const isBid = this.#random.chance(0.5);
    const best = isBid ? this.#book.bestAsk(book) : this.#book.bestBid(book);
    if (best === 0) return this.#add(book);
    return this.#place('take', book, { isBid, price: this.#beyond(best, isBid) });
  }

  #add(book: number): PlainCommand {
    const isBid = this.#random.chance(0.5);
    const opposite = isBid ? this.#book.bestAsk(book) : this.#book.bestBid(book);
    if (opposite !== 0 && this.#random.chance(share.crossing)) {
      return this.#place('add', book, { isBid, price: this.#beyond(opposite, isBid) });
    }
    const { tick } = this.#shape;
    const middle = this.#middleOf(book);
    const away = (1 + this.#random.geometric(spreadOfPrices)) * tick;
    const wanted = isBid ? middle - away : middle + away;
    const bound = opposite === 0 ? wanted : opposite + (isBid ? -tick : tick);
    const price = isBid ? Math.min(wanted, bound) : Math.max(wanted, bound);
    return this.#place('add', book, { isBid, price: clamp(price, tick) });
  }

  /** The middle walks by a tick now and then. */
  #middleOf(book: number): number {
    const { tick } = this.#shape;
    if (this.#random.chance(0.02)) {
      const step = this.#random.chance(0.5) ? tick : -tick;
      const middle = (this.#middles[book] ?? 0) + step;
      this.#middles[book] = Math.min(900 * tick, Math.max(100 * tick, middle));
    }
    return this.#middles[book] ?? 0;
  }

  #beyond(best: number, isBid: boolean): number {
    const away = this.#random.below(3) * this.#shape.tick;
    return clamp(isBid ? best + away : best - away, this.#shape.tick);
  }

  #place(kind: 'add' | 'take', book: number, at: { isBid: boolean; price: number }): PlainCommand {
    const id = this.#nextId++;
    const size = this.#random.pareto(lots.min, lots.shape, lots.max);
    let left = size;
    const entry = { market: book, ...at, lots: size, rests: kind === 'add' };
    const slot = this.#book.place(entry, (maker, filled) => {
      left -= filled;
      this.#fill(book, this.#idOfSlot[maker] ?? 0, filled);
    });
    this.#slots[id] = slot;
    this.#left[id] = slot === -1 ? 0 : left;
    if (slot !== -1) {
      this.#idOfSlot[slot] = id;
      this.#live[book]?.push(id);
    }
    return { kind, book, id, ...at, lots: size };
  }

  #fill(book: number, maker: number, filled: number): void {
    this.#left[maker] = (this.#left[maker] ?? 0) - filled;
    if (this.#left[maker] !== 0) return;
    this.#lastDead = maker;
    this.#bookOfDead = book;
  }
}

function clamp(price: number, tick: number): number {
  return Math.min(10_000 - tick, Math.max(tick, price));
}
