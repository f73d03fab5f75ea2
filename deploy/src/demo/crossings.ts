import type { OrderIntent } from '@pm/client';
import { ticksPerUsdc } from './ladders.ts';
import type { DemoMarket } from './market-maker.ts';
import type { RecordedQuote } from './recordings.ts';
import { crossingOrder } from './takers.ts';

/** A quote wider than this is not traded with while there is a narrower one, ticks of a tenth of a cent. */
const narrowTicks = 100;

interface TwoSided {
  readonly slug: string;
  readonly bid: number;
  readonly ask: number;
}

/**
 * Small trades with the newest quotes, of one tag after the other: the tape of every category moves, and each has
 * traders in its leaderboard.
 */
export class Crossings {
  readonly #tagOf: ReadonlyMap<string, string>;
  readonly #markets: ReadonlyMap<string, DemoMarket>;
  readonly #newest = new Map<string, Map<string, TwoSided>>();
  #count = 0;

  /** `tagOf`: the tag of each slug. */
  constructor(tagOf: ReadonlyMap<string, string>, markets: ReadonlyMap<string, DemoMarket>) {
    this.#tagOf = tagOf;
    this.#markets = markets;
  }

  note(quotes: readonly RecordedQuote[]): void {
    for (const quote of quotes) {
      const tag = this.#tagOf.get(quote.slug);
      if (tag === undefined) continue;
      const ofTag = this.#newest.get(tag) ?? new Map<string, TwoSided>();
      this.#newest.set(tag, ofTag);
      const sides = twoSided(quote);
      if (sides === null) ofTag.delete(quote.slug);
      else ofTag.set(quote.slug, sides);
    }
  }

  /** The next trade, and the number of its taker; null when the tag has no quote with both sides. */
  next(takers: number): { readonly taker: number; readonly order: OrderIntent } | null {
    const tags = [...this.#newest.keys()].sort();
    const count = this.#count;
    this.#count += 1;
    const quotes = [...(this.#newest.get(tags[count % tags.length] ?? '')?.values() ?? [])];
    const narrow = quotes.filter(({ bid, ask }) => ask - bid <= narrowTicks);
    const round = Math.floor(count / Math.max(1, tags.length));
    const choice = narrow.length > 0 ? narrow : quotes;
    const quote = choice[(round * 7) % Math.max(1, choice.length)];
    const market = this.#markets.get(quote?.slug ?? '');
    if (quote === undefined || market === undefined) return null;
    const how = { isYes: (count + round) % 2 === 0, shares: 5 + ((count * 13) % 45) };
    const order = crossingOrder({ market, bid: quote.bid, ask: quote.ask }, how);
    return { taker: (count * 5 + round) % takers, order };
  }
}

/** The first quote with both sides of each tag, in the order of the recording. */
export function openingQuotes(
  quotes: readonly RecordedQuote[],
  tagOf: ReadonlyMap<string, string>,
): RecordedQuote[] {
  const first = new Map<string, RecordedQuote>();
  for (const quote of quotes) {
    const tag = tagOf.get(quote.slug);
    if (tag !== undefined && !first.has(tag) && twoSided(quote) !== null) first.set(tag, quote);
  }
  return [...first.values()];
}

function twoSided({ slug, bid, ask }: RecordedQuote): TwoSided | null {
  if (bid === null || ask === null) return null;
  const sides = { slug, bid: ticksOf(bid), ask: ticksOf(ask) };
  return sides.bid > 0 && sides.bid < sides.ask && sides.ask < ticksPerUsdc ? sides : null;
}

function ticksOf(price: string): number {
  return Math.round(Number(price) * ticksPerUsdc);
}
