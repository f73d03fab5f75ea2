import { microText, priceText } from '../decimal.ts';
import { complementPrice } from '../money.ts';

/** A book answer in texts; bids ascending and asks descending, so that the best level is the last one. */
export interface BookResponse {
  readonly market: string;
  readonly assetId: string;
  readonly timestamp: string;
  readonly bids: readonly BookLevelText[];
  readonly asks: readonly BookLevelText[];
  readonly minOrderSize: string;
  readonly tickSize: string;
  readonly negRisk: boolean;
  /** Empty when the token was never traded. */
  readonly lastTradePrice: string;
}

export interface BookLevelText {
  readonly price: string;
  readonly size: string;
}

/** SHA-1 of a text as 40 lower-case hex digits; given by the caller, so that contracts stay free of crypto. */
export type Sha1 = (text: string) => string;

/**
 * The body of GET /book, byte for byte: keys in this order, without spaces, its own SHA-1 taken with an empty `hash`
 * (conventions.md 5.1).
 */
export function bookJson(answer: BookResponse, sha1: Sha1): string {
  const head = `{"market":"${answer.market}","asset_id":"${answer.assetId}","timestamp":"${answer.timestamp}","hash":"`;
  const bids = `","bids":[${answer.bids.map(levelJson).join(',')}]`;
  const asks = `,"asks":[${answer.asks.map(levelJson).join(',')}]`;
  const rules = `,"min_order_size":"${answer.minOrderSize}","tick_size":"${answer.tickSize}"`;
  const tail = `,"neg_risk":${answer.negRisk},"last_trade_price":"${answer.lastTradePrice}"}`;
  const rest = `${bids}${asks}${rules}${tail}`;
  return `${head}${sha1(`${head}${rest}`)}${rest}`;
}

function levelJson({ price, size }: BookLevelText): string {
  return `{"price":"${price}","size":"${size}"}`;
}

/** A price level or an order; price in 1/10000 USDC. */
export interface BookEntry {
  readonly price: number;
  readonly sizeMicro: number;
}

/** The book of a market in terms of token 0, and what its answers show besides. */
export interface PairBook {
  readonly market: string;
  readonly tokens: readonly [string, string];
  readonly negRisk: boolean;
  /** Clock of the partition at the last record that changed it, Unix milliseconds. */
  readonly timeMs: number;
  readonly tick: number;
  readonly minSizeMicro: number;
  /** Last trade of each token, 1/10000 USDC; null when there was none. */
  readonly lasts: readonly [number | null, number | null];
}

/**
 * The entries of a pair's sides, given with prices ascending, as one token shows them: best last. A bid of token 0 at p
 * is an ask of token 1 at 1-p.
 */
export function sidesOfToken<E extends BookEntry>(
  { bids, asks }: { readonly bids: readonly E[]; readonly asks: readonly E[] },
  outcome: 0 | 1,
): { readonly bids: readonly E[]; readonly asks: readonly E[] } {
  if (outcome === 0) return { bids, asks: asks.toReversed() };
  return { bids: asks.toReversed().map(mirrored), asks: bids.map(mirrored) };
}

function mirrored<E extends BookEntry>(entry: E): E {
  return { ...entry, price: complementPrice(entry.price) };
}

/** The answer for one token of the pair. */
export function bookAnswerOf(
  book: PairBook,
  outcome: 0 | 1,
  sides: { readonly bids: readonly BookEntry[]; readonly asks: readonly BookEntry[] },
): BookResponse {
  const last = book.lasts[outcome];
  const { bids, asks } = sidesOfToken(sides, outcome);
  return {
    market: book.market,
    assetId: book.tokens[outcome],
    timestamp: String(book.timeMs),
    bids: bids.map(levelText),
    asks: asks.map(levelText),
    minOrderSize: microText(book.minSizeMicro),
    tickSize: priceText(book.tick),
    negRisk: book.negRisk,
    lastTradePrice: last === null ? '' : priceText(last),
  };
}

function levelText({ price, sizeMicro }: BookEntry): BookLevelText {
  return { price: priceText(price), size: microText(sizeMicro) };
}
