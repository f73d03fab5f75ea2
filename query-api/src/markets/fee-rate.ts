import type { FeeRate } from '@pm/schemas';
import type { Market } from './catalog.ts';

/** Basis points in one. */
const one = 10_000;

/** What is charged where nothing else is said: markets are imported without a fee unless they name one. */
const defaultTerms = { feeRateBps: 0, rebateBps: 0, feeVersion: 1, category: '' };

/** The fee of a market, or the default without one: shares x rate x (p(1-p))^exponent, taker only. */
export function feeRateAnswer(
  market: Pick<Market, keyof typeof defaultTerms> = defaultTerms,
): FeeRate {
  const rate = market.feeRateBps / one;
  return {
    base_fee: market.feeRateBps,
    fd: { r: rate, e: 1, to: true },
    fee_schedule: {
      rate,
      exponent: 1,
      takerOnly: true,
      rebateRate: market.rebateBps / one,
      category: market.category,
      version: market.feeVersion,
      source: 'local',
    },
  };
}
