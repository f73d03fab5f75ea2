import {
  type BookField,
  bookAnswerOf,
  bookJson,
  type ConditionId,
  complementPrice,
  priceText,
  type Sha1,
  type TokenId,
} from '@pm/schemas';
import type { MarketBook } from './book.ts';

/** What the catalog knows of a market and its answers show. */
export interface MarketFacts {
  readonly conditionId: ConditionId;
  readonly tokens: readonly [TokenId, TokenId];
  readonly negRisk: boolean;
}

/** The hash of one token's book in Redis. */
export type BookHash = Readonly<Record<BookField, string>>;

/** Both tokens' hashes: token 0 as the book is, token 1 mirrored (a bid of token 0 at p is an ask of token 1 at 1-p). */
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
    const answer = bookAnswerOf(pair, outcome, sides);
    return {
      json: bookJson(answer, sha1),
      version: String(book.version),
      bid: answer.bids.at(-1)?.price ?? '',
      ask: answer.asks.at(-1)?.price ?? '',
      last: answer.lastTradePrice,
      lastSide: book.lasts[outcome]?.side ?? '',
      marketLast: marketLastOf(book, outcome),
      timeMs: answer.timestamp,
    };
  };
  return [hashOf(0), hashOf(1)];
}

function marketLastOf({ marketLast: price }: MarketBook, outcome: 0 | 1): string {
  if (price === null) return '';
  return priceText(outcome === 0 ? price : complementPrice(price));
}
