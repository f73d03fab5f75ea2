import { microText, priceOne } from '@pm/schemas';
import { payoutOf } from '../books/displayed-price.ts';
import type { Market } from '../markets/catalog.ts';
import type { SupplyRow } from './rows.ts';

/** Markets of one request. */
export const openInterestMarketsMax = 500;

/** What the tokens of a market stand for in micro-USDC: a pair is 1 USDC, after the resolution a token is what it pays. */
export function openInterestMicro(
  market: Market | undefined,
  { size0Micro, size1Micro }: SupplyRow,
): number {
  const payout = market === undefined ? null : payoutOf(market, 0);
  if (payout === null) return Math.max(size0Micro, size1Micro);
  const one = BigInt(priceOne);
  const sum = BigInt(size0Micro) * BigInt(payout) + BigInt(size1Micro) * (one - BigInt(payout));
  return Number(sum / one);
}

/** Decimals as text, as the family has them. */
export function valueEntry(market: string, micro: number) {
  return { market, value: microText(micro) };
}
