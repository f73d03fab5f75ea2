import { orderName } from '@pm/domain/books/order-name';
import type { Listing } from '@pm/domain/markets/market';
import { microText, priceText } from '@pm/schemas/decimal';
import {
  type BookEntry,
  bookAnswerOf,
  bookJson,
  type PairBook,
  type Sha1,
  sidesOfToken,
} from '@pm/schemas/http/book-hash';
import { hexBytes, type OrderId } from '@pm/schemas/ids';

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
 * The body of GET /book as it was, byte for byte. With orders each entry is one order with its public name, and of one
 * price the one that trades first is the last; `hash` is that of the book by levels (conventions.md 5.2).
 */
export function pastBookJson(
  { market, outcome }: Listing,
  past: PastBook,
  { sha1, bookSecret }: { readonly sha1: Sha1; readonly bookSecret: Buffer },
): string {
  const { conditionId, tokens, negRisk } = market;
  const pair = { ...past, market: conditionId, tokens, negRisk };
  const json = bookJson(bookAnswerOf(pair, outcome, past.levels), sha1);
  if (past.orders === null) return json;
  const { bids, asks } = sidesOfToken(past.orders, outcome);
  const book = JSON.parse(json) as object;
  const wireOrder = ({ price, sizeMicro, orderId }: PastOrder) => ({
    price: priceText(price),
    size: microText(sizeMicro),
    order: orderName(bookSecret, conditionId, hexBytes(orderId as OrderId)),
  });
  return JSON.stringify({ ...book, bids: bids.map(wireOrder), asks: asks.map(wireOrder) });
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
