import {
  type BookField,
  type BookLevelText,
  bookJson,
  type ConditionId,
  complementPrice,
  microText,
  priceText,
  type Sha1,
  type TokenId,
} from '@pm/schemas';
import type { MarketBook } from './book.ts';
import type { Level } from './levels.ts';

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
  const bids = book.bids.ascending();
  const asks = book.asks.ascending();
  const token0 = { bids: bids.map(levelText), asks: asks.toReversed().map(levelText) };
  const token1 = {
    bids: asks.toReversed().map(mirrored).map(levelText),
    asks: bids.map(mirrored).map(levelText),
  };
  return [
    hashOf(book, facts, { outcome: 0, sha1, ...token0 }),
    hashOf(book, facts, { outcome: 1, sha1, ...token1 }),
  ];
}

interface TokenSide {
  readonly outcome: 0 | 1;
  readonly sha1: Sha1;
  readonly bids: readonly BookLevelText[];
  readonly asks: readonly BookLevelText[];
}

function hashOf(
  book: MarketBook,
  facts: MarketFacts,
  { outcome, sha1, bids, asks }: TokenSide,
): BookHash {
  const last = book.lasts[outcome];
  const lastTradePrice = last === null ? '' : priceText(last.price);
  const answer = {
    market: facts.conditionId,
    assetId: facts.tokens[outcome],
    timestamp: String(book.timeMs),
    bids,
    asks,
    minOrderSize: microText(book.minSizeMicro),
    tickSize: priceText(book.tick),
    negRisk: facts.negRisk,
    lastTradePrice,
  };
  return {
    json: bookJson(answer, sha1),
    version: String(book.version),
    bid: bids.at(-1)?.price ?? '',
    ask: asks.at(-1)?.price ?? '',
    last: lastTradePrice,
    lastSide: last?.side ?? '',
    timeMs: String(book.timeMs),
  };
}

function levelText({ price, sizeMicro }: Level): BookLevelText {
  return { price: priceText(price), size: microText(sizeMicro) };
}

function mirrored({ price, sizeMicro }: Level): Level {
  return { price: complementPrice(price), sizeMicro };
}
