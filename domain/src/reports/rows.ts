import { microText } from '@pm/schemas/decimal';
import { priceOne } from '@pm/schemas/money';
import { payoutOf } from '../books/quote.ts';
import type { Market, Outcome } from '../markets/market.ts';

/** One side of a fill as it is public; wallets in lower case. */
export interface TradeRow {
  readonly partition: number;
  readonly inOffset: string;
  readonly eventIndex: number;
  readonly timeMs: number;
  readonly wallet: string;
  readonly market: number;
  readonly outcome: Outcome;
  readonly side: 'BUY' | 'SELL';
  /** 1/10000 USDC of the wallet's token. */
  readonly price: number;
  readonly sizeMicro: number;
}

export const activityTypes = ['TRADE', 'SPLIT', 'MERGE', 'REDEEM', 'REWARD', 'CONVERSION'] as const;
export type ActivityType = (typeof activityTypes)[number];

/** Something a wallet did. Trades have a token and a side; the rest moves both tokens of a market. */
export interface ActivityRow extends Omit<TradeRow, 'outcome' | 'side' | 'wallet'> {
  readonly type: ActivityType;
  readonly outcome: Outcome | null;
  readonly side: 'BUY' | 'SELL' | null;
  readonly usdcMicro: number;
}

/** A fill as `/builder/trades` shows it: which side names the builder, and both sides. */
export interface BuilderRow {
  readonly partition: number;
  readonly inOffset: string;
  readonly eventIndex: number;
  readonly timeMs: number;
  readonly role: 'TAKER' | 'MAKER';
  readonly builder: string;
  readonly market: number;
  readonly sizeMicro: number;
  readonly feeMicro: number;
  readonly feeRateBps: number;
  readonly taker: BuilderSide;
  readonly maker: BuilderSide;
}

export interface BuilderSide {
  readonly order: string;
  readonly wallet: string;
  readonly outcome: Outcome;
  readonly side: 'BUY' | 'SELL';
  readonly price: number;
}

/** Shares of a market in all hands. */
export interface SupplyRow {
  readonly market: number;
  readonly size0Micro: number;
  readonly size1Micro: number;
}

/** A wallet's position in one token. */
export interface MarketPositionRow {
  readonly wallet: string;
  readonly outcome: Outcome;
  readonly sizeMicro: number;
  readonly costMicro: number;
  readonly totalBoughtMicro: number;
  readonly realizedMicro: number;
}

/** Taker fees of the fills in which a wallet was the maker. */
export interface MakerFeesRow {
  readonly market: number;
  readonly feesMicro: number;
}

/** Volume of the orders of a builder. */
export interface BuilderVolumeRow {
  readonly builder: string;
  /** `2026-01-31`; empty for a whole period. */
  readonly day: string;
  readonly volumeMicro: number;
  readonly wallets: number;
}

/** The words of the catalog that rows of reports carry. */
export function marketLabels(market: Market, eventSlug: string) {
  return { title: market.question, slug: market.slug, icon: market.icon, eventSlug };
}

/** Markets of one request. */
export const openInterestMarketsMax = 500;

/** Value of the tokens of a market in micro-USDC: a pair is 1 USDC, after the resolution a token is what it pays. */
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
