import {
  bestPrice,
  microPerPrice,
  noQuote,
  type Quote,
  type ShownIn,
  shownMidpointMicro,
  shownQuote,
} from '@pm/domain/books/quote';
import { microText, priceText } from '@pm/schemas/decimal';
import { microPerUnit, priceOne } from '@pm/schemas/money';
import type { TokenBatch } from './token-batch.ts';

/** Midpoints are multiples of half the smallest step of a price. */
const midpointStepMicro = microPerPrice / 2;

/** Texts of all prices and of all midpoints that were shown: there are 10,001 of these and 20,001 of those. */
const priceJsons: (string | undefined)[] = new Array(priceOne + 1).fill(undefined);
const midpointJsons: (string | undefined)[] = new Array(microPerUnit / midpointStepMicro + 1).fill(
  undefined,
);

/** A price as a JSON string. */
function priceJson(price: number): string {
  return priceJsons[price] ?? keptIn(priceJsons, price, `"${priceText(price)}"`);
}

/** A midpoint as a JSON string. */
function midpointJson(micro: number): string {
  const place = micro / midpointStepMicro;
  return midpointJsons[place] ?? keptIn(midpointJsons, place, `"${microText(micro)}"`);
}

function keptIn(texts: (string | undefined)[], place: number, text: string): string {
  if (Number.isInteger(place) && place >= 0 && place < texts.length) texts[place] = text;
  return text;
}

/** The quote of each listing of the batch. */
type BatchQuotes = readonly Quote[];

/** Midpoints by token; a token without one has no key. */
export function midpointsJson(batch: TokenBatch, quotes: BatchQuotes, dialect: ShownIn): string {
  let members = '';
  for (const { place, key } of batch.distinct) {
    const midpoint = shownMidpointMicro(shownAt(batch, quotes, place), dialect);
    if (midpoint !== null) members = joined(members, key + midpointJson(midpoint));
  }
  return `{${members}}`;
}

/** Spreads by token; a token with an empty side has no key. */
export function spreadsJson(batch: TokenBatch, quotes: BatchQuotes): string {
  let members = '';
  for (const { place, key } of batch.distinct) {
    const { bid, ask } = quotes[place] ?? noQuote;
    if (bid !== null && ask !== null) members = joined(members, key + priceJson(ask - bid));
  }
  return `{${members}}`;
}

/** Best prices by token; an empty side of a book has no key. */
export function pricesJson(batch: TokenBatch, quotes: BatchQuotes, dialect: ShownIn): string {
  let members = '';
  for (const { place, key, wantsBuy, wantsSell } of batch.distinct) {
    const quote = shownAt(batch, quotes, place);
    const bought = wantsBuy ? bestPrice(quote, 'BUY', dialect) : null;
    const sold = wantsSell ? bestPrice(quote, 'SELL', dialect) : null;
    const buy = bought === null ? '' : `"BUY":${priceJson(bought)}`;
    const sell = sold === null ? '' : `"SELL":${priceJson(sold)}`;
    const both = buy !== '' && sell !== '' ? `${buy},${sell}` : buy + sell;
    members = joined(members, `${key}{${both}}`);
  }
  return `{${members}}`;
}

/** Last trades in the requested order, tokens that were never traded left out. */
export function lastTradesJson(batch: TokenBatch, quotes: BatchQuotes): string {
  let items = '';
  for (const [place, { token }] of batch.listings.entries()) {
    const { last, lastSide } = shownAt(batch, quotes, place);
    if (last === null) continue;
    const item = `{"token_id":"${token}","price":${priceJson(last)},"side":"${lastSide}"}`;
    items = joined(items, item);
  }
  return `[${items}]`;
}

function shownAt({ listings }: TokenBatch, quotes: BatchQuotes, place: number): Quote {
  const quote = quotes[place] ?? noQuote;
  const listing = listings[place];
  return listing === undefined ? quote : shownQuote(listing, quote);
}

function joined(items: string, next: string): string {
  return items === '' ? next : `${items},${next}`;
}
