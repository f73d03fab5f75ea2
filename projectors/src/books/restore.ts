import { BrokenLog } from '@pm/domain/executions/broken-log';
import { parseMicro, parsePrice } from '@pm/schemas/decimal';
import { type LastTrade, MarketBook } from './book.ts';
import type { BookHash } from './render.ts';

/** The fields read of the hash of token 1; of token 0 all are read. */
export type StoredLast = Pick<BookHash, 'last' | 'lastSide'>;

/** The book as it was when its hashes were written. Throws `BrokenLog` for a hash that cannot be read. */
export function restoreBook(market: number, token0: BookHash, token1: StoredLast): MarketBook {
  const book = new MarketBook(market);
  const body: unknown = JSON.parse(token0.json);
  for (const [price, sizeMicro] of levelsIn(body, 'bids')) book.bids.set(price, sizeMicro);
  for (const [price, sizeMicro] of levelsIn(body, 'asks')) book.asks.set(price, sizeMicro);
  book.tick = numberIn(body, 'tick_size', parsePrice);
  book.minSizeMicro = numberIn(body, 'min_order_size', parseMicro);
  book.lasts[0] = lastOf(token0);
  book.lasts[1] = lastOf(token1);
  book.marketLast = parsePrice(token0.marketLast);
  book.timeMs = Number(token0.timeMs);
  book.version = Number(token0.version);
  return book;
}

function levelsIn(body: unknown, side: 'bids' | 'asks'): readonly (readonly [number, number])[] {
  const levels = fieldOf(body, side);
  if (!Array.isArray(levels)) throw new BrokenLog('a stored book without levels');
  return levels.map((level: unknown) => [
    numberIn(level, 'price', parsePrice),
    numberIn(level, 'size', parseMicro),
  ]);
}

function numberIn(body: unknown, name: string, parse: (text: string) => number | null): number {
  const value = parse(String(fieldOf(body, name)));
  if (value === null) throw new BrokenLog(`a stored book with an unreadable ${name}`);
  return value;
}

function fieldOf(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined;
}

function lastOf({ last, lastSide }: StoredLast): LastTrade | null {
  const price = parsePrice(last);
  if (price === null || (lastSide !== 'BUY' && lastSide !== 'SELL')) return null;
  return { price, side: lastSide };
}
