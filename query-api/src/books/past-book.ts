import {
  type BookEntry,
  bookAnswerOf,
  bookJson,
  microText,
  type PairBook,
  priceText,
  type Sha1,
  sidesOfToken,
} from '@pm/schemas';
import type { Listing } from '../markets/market.ts';

/** Which book is meant: after the last record whose clock is at most `atMs`, or after one record of the partition. */
export type Moment = { readonly atMs: number } | { readonly inOffset: number };

/** An order that rested. */
export interface PastOrder extends BookEntry {
  readonly orderId: string;
}

/**
 * Both sides in terms of token 0, prices ascending; of one price the order that trades last comes first in bids, last
 * in asks.
 */
export interface PastSides<E extends BookEntry> {
  readonly bids: readonly E[];
  readonly asks: readonly E[];
}

/** The book of a market as it was. */
export interface PastBook extends Pick<PairBook, 'timeMs' | 'tick' | 'minSizeMicro' | 'lasts'> {
  readonly levels: PastSides<BookEntry>;
  /** Null when they were not requested. */
  readonly orders: PastSides<PastOrder> | null;
}

/**
 * The body of GET /book as it was, byte for byte. With orders each entry is one order with its `order_id`, and of one
 * price the one that trades first is the last; `hash` is that of the book by levels (conventions.md 5.2).
 */
export function pastBookJson({ market, outcome }: Listing, past: PastBook, sha1: Sha1): string {
  const { conditionId, tokens, negRisk } = market;
  const pair = { ...past, market: conditionId, tokens, negRisk };
  const json = bookJson(bookAnswerOf(pair, outcome, past.levels), sha1);
  if (past.orders === null) return json;
  const { bids, asks } = sidesOfToken(past.orders, outcome);
  const book = JSON.parse(json) as object;
  return JSON.stringify({ ...book, bids: bids.map(wireOrder), asks: asks.map(wireOrder) });
}

function wireOrder({ price, sizeMicro, orderId }: PastOrder): object {
  return { price: priceText(price), size: microText(sizeMicro), order_id: orderId };
}

/** Orders in the order they came to rest, as sides: stable sorts keep the time priority of one price. */
export function sidesOfOrders(
  orders: readonly (PastOrder & { readonly side: 'BUY' | 'SELL' })[],
): PastSides<PastOrder> {
  const of = (side: 'BUY' | 'SELL') => orders.filter((order) => order.side === side);
  return {
    bids: of('BUY')
      .toReversed()
      .sort((one, other) => one.price - other.price),
    asks: of('SELL').sort((one, other) => one.price - other.price),
  };
}
