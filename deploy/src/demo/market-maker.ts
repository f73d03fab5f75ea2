import type { OrderIntent } from '@pm/client';
import type { Desk } from './desk.ts';
import type { RecordedQuote } from './recordings.ts';

/** What a player needs to know of a market. */
export interface DemoMarket {
  readonly slug: string;
  readonly conditionId: string;
  readonly tokenIds: readonly [string, string];
}

/** Shares of each quote: recorded quotes have no size, so it follows from the market. */
const quoteShares = { least: 50, spread: 450 };

/**
 * Quotes of one maker: the recorded bid as a BUY of token 0, the recorded ask as a BUY of token 1 at what is left of one
 * USDC, so that a maker needs no tokens. A new quote replaces the old one.
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

/** Takes the desk's old quotes off and puts the new ones on. */
export async function requote(
  desk: Desk,
  quotes: readonly { readonly quote: RecordedQuote; readonly market: DemoMarket }[],
): Promise<void> {
  await Promise.all(quotes.map(({ market }) => desk.cancelMarket(market.conditionId)));
  await desk.place(quotes.flatMap(({ quote, market }) => quoteOrders(quote, market)));
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
