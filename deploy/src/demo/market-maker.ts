import type { OrderIntent } from '@pm/client';
import type { RecordedQuote } from './recordings.ts';
import type { TradingAccount } from './trading-account.ts';

/** A market as the demo trades it. */
export interface DemoMarket {
  readonly slug: string;
  readonly conditionId: string;
  readonly tokenIds: readonly [string, string];
}

/** The market that a first look shows: the one with the most recorded trades. */
export function shownMarket(markets: readonly DemoMarket[]): DemoMarket | null {
  return markets.find(({ slug }) => slug.includes('no-change-in-fed')) ?? markets[0] ?? null;
}

/** Shares of each quote: recorded quotes have no size, so it follows from the market. */
const quoteShares = { least: 50, spread: 450 };

/** Levels of each side of a quote, a cent apart; the second has twice the shares of the best, and so on. */
const levelsPerSide = 3;
const levelCents = 0.01;

/**
 * Quotes of one maker: the recorded bid and levels below it as BUYs of token 0, the recorded ask and levels above it as
 * BUYs of token 1 at one USDC less their prices, so that a maker needs no tokens. A new quote replaces the old one.
 */
export function quoteOrders(quote: RecordedQuote, market: DemoMarket): OrderIntent[] {
  const shares = sharesFor(market.slug);
  const bids = quote.bid === null ? [] : levelsBelow(Number(quote.bid));
  const asks = quote.ask === null ? [] : levelsBelow(1 - Number(quote.ask));
  return [bids, asks].flatMap((prices, outcome) =>
    prices.map((price, level) => ({
      tokenId: market.tokenIds[outcome === 0 ? 0 : 1],
      side: 'BUY' as const,
      price,
      size: String(shares * (level + 1)),
    })),
  );
}

function levelsBelow(best: number): string[] {
  return Array.from({ length: levelsPerSide }, (_, level) => best - level * levelCents)
    .map((price) => Math.round(price * 1_000) / 1_000)
    .filter((price) => price > 0 && price < 1)
    .map(String);
}

/** Only the newest quote of each market, in order. */
export function newestQuotes(quotes: readonly RecordedQuote[]): RecordedQuote[] {
  return [...new Map(quotes.map((quote) => [quote.slug, quote])).values()];
}

/** Cancels the account's old quotes in these markets and places the new ones. */
export async function requote(
  account: TradingAccount,
  quotes: readonly { readonly quote: RecordedQuote; readonly market: DemoMarket }[],
): Promise<void> {
  await Promise.all(quotes.map(({ market }) => account.cancelMarket(market.conditionId)));
  await account.place(quotes.flatMap(({ quote, market }) => quoteOrders(quote, market)));
}

function sharesFor(slug: string): number {
  let sum = 0;
  for (const char of slug) sum = (sum * 31 + char.charCodeAt(0)) % 100_003;
  return quoteShares.least + (sum % quoteShares.spread);
}
