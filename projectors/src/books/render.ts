import { priceText } from '@pm/schemas/decimal';
import { bookAnswerOf, bookJson, type Sha1 } from '@pm/schemas/http/book-hash';
import type { ConditionId, TokenId } from '@pm/schemas/ids';
import { complementPrice } from '@pm/schemas/money';
import type { BookField } from '@pm/schemas/redis/keys';
import type { MarketBook } from './book.ts';

/** Facts of the catalog that the book of a market shows. */
export interface MarketFacts {
  readonly conditionId: ConditionId;
  readonly tokens: readonly [TokenId, TokenId];
  readonly negRisk: boolean;
}

export interface ListedMarket {
  readonly market: number;
  readonly facts: MarketFacts;
}

/** The hash of one token's book in Redis. */
export type BookHash = Readonly<Record<BookField, string>>;

/**
 * The hashes of both tokens: token 0 as the book is, token 1 mirrored (a bid of token 0 at p is an ask of token 1 at
 * 1-p).
 */
export function renderBook(
  book: MarketBook,
  facts: MarketFacts,
  sha1: Sha1,
): readonly [BookHash, BookHash] {
  const [last0, last1] = book.lasts;
  const { timeMs, tick, minSizeMicro } = book;
  const { conditionId: market, tokens, negRisk } = facts;
  const lasts = [last0?.price ?? null, last1?.price ?? null] as const;
  const pair = { market, tokens, negRisk, timeMs, tick, minSizeMicro, lasts };
  const sides = { bids: book.bids.ascending(), asks: book.asks.ascending() };
  const hashOf = (outcome: 0 | 1): BookHash => {
    const shown = bookAnswerOf(pair, outcome, sides);
    return {
      json: bookJson(shown, sha1),
      version: String(book.version),
      bid: shown.bids.at(-1)?.price ?? '',
      ask: shown.asks.at(-1)?.price ?? '',
      last: shown.lastTradePrice,
      lastSide: book.lasts[outcome]?.side ?? '',
      marketLast: marketLastOf(book, outcome),
      timeMs: shown.timestamp,
    };
  };
  return [hashOf(0), hashOf(1)];
}

function marketLastOf({ marketLast: price }: MarketBook, outcome: 0 | 1): string {
  if (price === null) return '';
  return priceText(outcome === 0 ? price : complementPrice(price));
}
