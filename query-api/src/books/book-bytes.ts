import { createHash } from 'node:crypto';
import { type BookSnapshot, bookJson, microText, priceText } from '@pm/schemas';
import type { Listing } from '../markets/market.ts';

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

/** Of the hashes of books. */
export const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex');

/** A stored book with one side only: `BUY` keeps the bids. */
export function oneSided(stored: Buffer, side: 'BUY' | 'SELL'): Buffer {
  const book = JSON.parse(stored.toString('utf8')) as BookSnapshot;
  const emptied = side === 'BUY' ? { ...book, asks: [] } : { ...book, bids: [] };
  return Buffer.from(JSON.stringify(emptied));
}

const open = Buffer.from('[');
const comma = Buffer.from(',');
const close = Buffer.from(']');

/** Stored JSON texts as one JSON array, without parsing any. */
export function joinJson(items: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [open];
  items.forEach((item, index) => {
    if (index > 0) parts.push(comma);
    parts.push(item);
  });
  parts.push(close);
  return Buffer.concat(parts);
}
