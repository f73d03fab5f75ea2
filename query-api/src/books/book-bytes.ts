import { createHash } from 'node:crypto';
import type { Listing } from '@pm/domain/markets/market';
import { microText, priceText } from '@pm/schemas/decimal';
import { bookJson } from '@pm/schemas/http/book-hash';
import type { BookSnapshot } from '@pm/schemas/http/reading';

/** The book of a listed token on which nothing ever happened, in the form and with the hash of stored books. */
export function emptyBook({ market, token }: Listing): Buffer {
  const answer = {
    market: market.conditionId,
    assetId: token,
    timestamp: String(market.updatedAtMs),
    bids: [],
    asks: [],
    minOrderSize: microText(market.minSizeMicro),
    tickSize: priceText(market.tick),
    negRisk: market.negRisk,
    lastTradePrice: '',
  };
  return Buffer.from(bookJson(answer, sha1));
}

/** SHA-1 of a text in hexadecimal, for the hashes of books. */
export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A stored book with one side only: `BUY` keeps the bids. */
export function oneSided(stored: Buffer, side: 'BUY' | 'SELL'): Buffer {
  const book = JSON.parse(stored.toString('utf8')) as BookSnapshot;
  const emptied = side === 'BUY' ? { ...book, asks: [] } : { ...book, bids: [] };
  return Buffer.from(JSON.stringify(emptied));
}

const open = 0x5b;
const comma = 0x2c;
const close = 0x5d;

/** Stored JSON texts as one JSON array, without parsing any. */
export function joinJson(items: readonly Buffer[]): Buffer {
  let length = 1 + Math.max(1, items.length);
  for (const item of items) length += item.length;
  const joined = Buffer.allocUnsafe(length);
  let end = 0;
  for (const item of items) {
    joined[end] = end === 0 ? open : comma;
    joined.set(item, end + 1);
    end += 1 + item.length;
  }
  if (end === 0) joined[0] = open;
  joined[length - 1] = close;
  return joined;
}
