import { Random } from '@pm/kit/random';
import { commandAt, commandWords } from '@pm/matcher/core';
import type { Shape } from './shape.ts';
import { StreamMaker } from './stream-maker.ts';

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

/** Commands as the core takes them (batch-book.ts): four words each. The market is the book. */
export interface Stream {
  readonly shape: Shape;
  readonly words: Int32Array;
  readonly count: number;
}

/**
 * 60 % adds (5 % of them crossing), 35 % cancels (1.5 % of them of orders that are gone), 5 % takers that do not rest;
 * books by Zipf 1.05, sizes by Pareto 1.25.
 */
export function makeStream(shape: Shape): Stream {
  return { shape, words: new StreamMaker(shape).make(), count: shape.commands };
}

const bidFlag = 2;

function plainAt({ words }: Stream, index: number): PlainCommand {
  const at = index * commandWords;
  const word = (field: number): number => words[at + field] ?? 0;
  const [book, id] = [word(commandAt.market), word(commandAt.order)];
  const lots = word(commandAt.lots);
  if (lots === 0) return { kind: 'cancel', book, id };
  const packed = word(commandAt.priceAndFlags);
  const kind = lots > 0 ? 'add' : 'take';
  return {
    kind,
    book,
    id,
    isBid: (packed & bidFlag) !== 0,
    price: packed >> 2,
    lots: Math.abs(lots),
  };
}

export function* plainCommands(
  stream: Stream,
  from = 0,
  to = stream.count,
): Generator<PlainCommand> {
  for (let index = from; index < to; index += 1) yield plainAt(stream, index);
}

/**
 * A stream with the same orders, each in a random token: a bid is a BUY of token 0 or a SELL of token 1 at 1 - price.
 */
export function byEitherToken(stream: Stream): Stream {
  const random = new Random(3);
  const words = Int32Array.from(stream.words);
  for (let at = commandAt.priceAndFlags; at < words.length; at += commandWords) {
    if (random.chance(0.5)) words[at] = complementOf(words[at] ?? 0);
  }
  return { ...stream, words };
}

/** Both tokens of a market in one book, as they are in the product: what were two books now trade with each other. */
export function onSharedBooks(stream: Stream): Stream {
  const words = Int32Array.from(stream.words);
  for (let at = 0; at < words.length; at += commandWords) {
    const book = words[at + commandAt.market] ?? 0;
    words[at + commandAt.market] = book >> 1;
    const packed = words[at + commandAt.priceAndFlags] ?? 0;
    words[at + commandAt.priceAndFlags] = packed | (book & 1);
  }
  return { ...stream, words };
}

function complementOf(packed: number): number {
  return ((10_000 - (packed >> 2)) << 2) | ((packed ^ bidFlag) & bidFlag) | 1;
}
