import { microPerUnit, priceOne, type TokenId } from '@pm/schemas';
import type { Market, Outcome } from '../markets/catalog.ts';
import { displayedMicro, microPerPrice, noQuote, type Quote } from './quote.ts';

/** Quotes by token, for the tokens an answer shows. */
export type Quotes = ReadonlyMap<TokenId, Quote>;

/**
 * The displayed price of an outcome in micro-USDC: what it pays once resolved, else what the quote of token 0 says. Of both tokens the
 * same quote is asked, so that they add up to 1 in every answer.
 */
export function priceOfMicro(market: Market, outcome: Outcome, quotes: Quotes): number {
  const payout = payoutOf(market, outcome);
  if (payout !== null) return payout * microPerPrice;
  const price0 = displayedMicro(quotes.get(market.tokens[0]) ?? noQuote);
  return outcome === 0 ? price0 : microPerUnit - price0;
}

/** What a token pays in 1/10000 USDC; null before the market is resolved. */
export function payoutOf(market: Market, outcome: Outcome): number | null {
  if (market.payout0 < 0) return null;
  return outcome === 0 ? market.payout0 : priceOne - market.payout0;
}

/** Micro-units as a JSON number: the nearest double prints as the exact decimal. */
export function unitsOf(micro: number): number {
  return micro / microPerUnit;
}
