import { parsePrice } from '@pm/schemas/decimal';
import type { TokenId } from '@pm/schemas/ids';
import { microPerUnit, priceOne, shownSpreadMax } from '@pm/schemas/money';
import type { Listing, Market, Outcome } from '../markets/market.ts';

/** Best prices and the last trade of a token, in 1/10000 USDC; null where there is none. */
export interface Quote {
  readonly bid: number | null;
  readonly ask: number | null;
  readonly last: number | null;
  /** Side of the aggressor of the last trade; empty before the first. */
  readonly lastSide: Side | '';
  /** The newest trade of the market, of either token, as this one sees it. */
  readonly marketLast: number | null;
}

export const noQuote: Quote = { bid: null, ask: null, last: null, lastSide: '', marketLast: null };

/** Fields of a stored book that a quote is made of, in this order. */
export const quoteFields = ['bid', 'ask', 'last', 'lastSide', 'marketLast'] as const;

/** A quote out of the stored fields. */
export function quoteOf(fields: readonly (string | null | undefined)[]): Quote {
  const [bid, ask, last, lastSide, marketLast] = fields;
  return {
    bid: priceOrNull(bid),
    ask: priceOrNull(ask),
    last: priceOrNull(last),
    lastSide: lastSide === 'BUY' || lastSide === 'SELL' ? lastSide : '',
    marketLast: priceOrNull(marketLast),
  };
}

function priceOrNull(text: string | null | undefined): number | null {
  return text === null || text === undefined || text === '' ? null : parsePrice(text);
}

/** Micro-USDC in 1/10000 USDC. */
export const microPerPrice = 100;

/** Halfway between bid and ask in micro-USDC; null when a side is missing. */
export function midpointMicro({ bid, ask }: Quote): number | null {
  return bid === null || ask === null ? null : ((bid + ask) * microPerPrice) / 2;
}

/**
 * The displayed price in micro-USDC: midpoint, or the newest trade of the market when the spread is wider than 0.10. An
 * empty side counts as 0 or 1. The two tokens of a market always add up to 1.
 */
export function displayedMicro(quote: Quote): number {
  const bid = quote.bid ?? 0;
  const ask = quote.ask ?? priceOne;
  if (ask - bid > shownSpreadMax && quote.marketLast !== null)
    return quote.marketLast * microPerPrice;
  return ((bid + ask) * microPerPrice) / 2;
}

/** Whether a response follows the specification or the family (`Dialect` of `@pm/kit/http`). */
export type ShownIn = 'specification' | 'family';

/**
 * The midpoint as returned: a book with an empty side has none, but clients of the family request the midpoint beside
 * other things and drop everything on a 404, so they get the displayed price (conventions.md 1.1).
 */
export function shownMidpointMicro(quote: Quote, dialect: ShownIn): number | null {
  return midpointMicro(quote) ?? (dialect === 'family' ? displayedMicro(quote) : null);
}

export type Side = 'BUY' | 'SELL';

/** The side in any case; null for anything else. */
export function sideOf(given: unknown): Side | null {
  const side = typeof given === 'string' ? given.toUpperCase() : null;
  return side === 'BUY' || side === 'SELL' ? side : null;
}

/**
 * The best price under a side: at the root the one that an order of that side gets, in the family the best resting one
 * of that side (conventions.md 5.1). Null when the book has none.
 */
export function bestPrice({ bid, ask }: Quote, side: Side, shownIn: ShownIn): number | null {
  return (side === 'BUY') === (shownIn === 'family') ? bid : ask;
}

/** Quotes by token, for the tokens an answer shows. */
export type Quotes = ReadonlyMap<TokenId, Quote>;

/**
 * The displayed price of an outcome in micro-USDC: what it pays once resolved, else what the quote of token 0 says. Of
 * both tokens the same quote is used, so that they add up to 1 in every answer.
 */
export function priceOfMicro(market: Market, outcome: Outcome, quotes: Quotes): number {
  const payout = payoutOf(market, outcome);
  if (payout !== null) return payout * microPerPrice;
  const price0 = displayedMicro(quotes.get(market.tokens[0]) ?? noQuote);
  return outcome === 0 ? price0 : microPerUnit - price0;
}

/** Payout of a token in 1/10000 USDC; null before the market is resolved. */
export function payoutOf(market: Market, outcome: Outcome): number | null {
  if (market.payout0 < 0) return null;
  return outcome === 0 ? market.payout0 : priceOne - market.payout0;
}

/**
 * The quote of a listing as prices show it: once the market is resolved, its payout (conventions.md 5.1). The side of
 * the last trade stays.
 */
export function shownQuote({ market, outcome }: Listing, quote: Quote): Quote {
  const payout = payoutOf(market, outcome);
  if (payout === null) return quote;
  return { bid: payout, ask: payout, last: payout, lastSide: quote.lastSide, marketLast: payout };
}

/** Micro-units as a JSON number: the nearest double prints as the exact decimal. */
export function unitsOf(micro: number): number {
  return micro / microPerUnit;
}
