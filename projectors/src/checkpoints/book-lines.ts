import { type LastTrade, MarketBook } from '../books/book.ts';
import type { PriceLevels } from '../books/levels.ts';
import { parse, unreadable } from './checkpoint-file.ts';

/** The books of a partition as lines of JSON, and a last one with their number. */
export function* encodeBooks(books: ReadonlyMap<number, MarketBook>): Generator<Buffer> {
  for (const book of books.values()) yield Buffer.from(`${JSON.stringify(lineOf(book))}\n`);
  yield Buffer.from(`${JSON.stringify({ end: books.size })}\n`);
}

/** Throws `checkpoint_unreadable` (skip). */
export function decodeBooks(body: Buffer): ReadonlyMap<number, MarketBook> {
  const books = new Map<number, MarketBook>();
  const lines = body.toString('utf8').split('\n');
  const [last, rest] = [lines.at(-2) ?? '', lines.at(-1)];
  for (const line of lines.slice(0, -2)) {
    const book = bookIn(parse(line));
    books.set(book.market, book);
  }
  if (rest !== '' || Reflect.get(Object(parse(last)), 'end') !== books.size)
    throw unreadable('its end');
  return books;
}

type Level = readonly [price: number, sizeMicro: number];
type Last = readonly [price: number, side: LastTrade['side']] | null;

interface BookLine {
  readonly market: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly lasts: readonly [Last, Last];
  readonly marketLast: number | null;
  readonly tick: number;
  readonly minSizeMicro: number;
  readonly timeMs: number;
  readonly version: number;
}

function lineOf(book: MarketBook): BookLine {
  const { market, marketLast, tick, minSizeMicro, timeMs, version } = book;
  const [last0, last1] = book.lasts;
  return {
    market,
    bids: levelsOf(book.bids),
    asks: levelsOf(book.asks),
    lasts: [lastOf(last0), lastOf(last1)],
    marketLast,
    tick,
    minSizeMicro,
    timeMs,
    version,
  };
}

const levelsOf = (levels: PriceLevels): readonly Level[] =>
  levels.ascending().map(({ price, sizeMicro }) => [price, sizeMicro]);

const lastOf = (last: LastTrade | null): Last => (last === null ? null : [last.price, last.side]);

function bookIn(value: unknown): MarketBook {
  const line = Object(value) as BookLine;
  const { market, marketLast, tick, minSizeMicro, timeMs, version } = line;
  const numbers = [market, marketLast ?? 0, tick, minSizeMicro, timeMs, version];
  if (!numbers.every(Number.isSafeInteger)) throw unreadable('a book');
  const book = new MarketBook(market);
  for (const [price, sizeMicro] of sound(line.bids)) book.bids.set(price, sizeMicro);
  for (const [price, sizeMicro] of sound(line.asks)) book.asks.set(price, sizeMicro);
  for (const outcome of [0, 1] as const) {
    const last = line.lasts?.[outcome] ?? null;
    book.lasts[outcome] = last === null ? null : { price: last[0], side: last[1] };
  }
  return Object.assign(book, { marketLast, tick, minSizeMicro, timeMs, version });
}

function sound(levels: unknown): readonly Level[] {
  const isLevel = (level: unknown) =>
    Array.isArray(level) && level.length === 2 && level.every(Number.isSafeInteger);
  if (Array.isArray(levels) && levels.every(isLevel)) return levels as readonly Level[];
  throw unreadable('levels of a book');
}
