import type { PriceMoves } from '@pm/domain/markets/figures';
import { priceOne } from '@pm/schemas/money';

/** Best prices of token 0 in 1/10000 USDC: 0 and 10000 where a side is empty. */
export interface BookPrices {
  readonly bid: number;
  readonly ask: number;
}

/** Best prices and the newest trade at one moment, in terms of token 0; null where there was none yet. */
export interface KnownPrices {
  readonly book: BookPrices | null;
  /** 1/10000 USDC. */
  readonly trade: number | null;
}

/** A spread above it says that a price is uncertain, 1/10000 USDC. */
const spreadWide = 2_000;
/** Half a price of 1/10000 USDC in micro-USDC. */
const microPerHalf = 50;

/**
 * How open a market is, from 0 to 1: 1 / (1 + (p - 1/2)²), p halfway between the best prices; times 1 - spread where
 * the spread is above 0.20. An empty side counts as 0 or 1. It gives the figures of 283 recorded markets of the family.
 */
export function competitiveness({ bid, ask }: BookPrices): number {
  const off = (bid + ask - priceOne) / (2 * priceOne);
  const spread = ask - bid;
  const certainty = spread > spreadWide ? (priceOne - spread) / priceOne : 1;
  return certainty / (1 + off * off);
}

/** The moves from each of these moments until now. */
export function movesSince(
  now: KnownPrices,
  then: { readonly day: KnownPrices; readonly week: KnownPrices; readonly month: KnownPrices },
): PriceMoves {
  const priceNow = priceMicro(now);
  const since = (known: KnownPrices): number | null => {
    const before = priceMicro(known);
    return priceNow === null || before === null ? null : priceNow - before;
  };
  return {
    dayMicro: since(then.day),
    weekMicro: since(then.week),
    monthMicro: since(then.month),
    competitive: now.book === null ? 0 : competitiveness(now.book),
  };
}

/** As in price histories: the midpoint, or the newest trade while a side of the book is empty; micro-USDC. */
function priceMicro({ book, trade }: KnownPrices): number | null {
  const isOneSided = book === null || book.bid === 0 || book.ask === priceOne;
  if (!isOneSided) return (book.bid + book.ask) * microPerHalf;
  return trade === null ? null : trade * 2 * microPerHalf;
}
