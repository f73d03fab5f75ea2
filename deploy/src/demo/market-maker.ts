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

/**
 * Quotes of one maker: the recorded bid as a BUY of token 0, the recorded ask as a BUY of token 1 at one USDC less its
 * price, so that a maker needs no tokens. A new quote replaces the old one.
 */
export function quoteOrders(quote: RecordedQuote, market: DemoMarket): OrderIntent[] {
  const size = String(sharesFor(market.slug));
  const orders: OrderIntent[] = [];
  if (isPrice(quote.bid)) {
    orders.push({ tokenId: market.tokenIds[0], side: 'BUY', price: priceText(quote.bid), size });
  }
  if (isPrice(quote.ask)) {
    const price = complement(quote.ask);
    orders.push({ tokenId: market.tokenIds[1], side: 'BUY', price, size });
  }
  return orders;
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

function isPrice(price: string | null): price is string {
  return price !== null && Number(price) > 0 && Number(price) < 1;
}

function priceText(price: string): string {
  return String(Number(price));
}

function complement(price: string): string {
  return String((1000 - Math.round(Number(price) * 1000)) / 1000);
}
