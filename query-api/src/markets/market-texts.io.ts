import type { Market } from '@pm/domain/markets/market';
import { eventMarket, noMirror } from '@pm/domain/markets/wire-market';
import type { Dialect } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas/log/catalog';
import { type CatalogParts, marketContext } from './catalog-responses.io.ts';
import { familyFacts } from './family-market.ts';
import { eventSummary } from './wire-event.ts';

/** Markets whose texts are kept; some 1.5 kB each. When it is full, all are dropped and written again. */
const keptMax = 10_000;

interface Kept {
  readonly event: CatalogEvent | undefined;
  readonly text: string;
}

/**
 * Lists of markets as JSON, as `marketAnswers` would have them. What the catalog says of a market and its event is
 * long, and the same until one of their rows is replaced (rows are never changed), so it is written once; what moves is
 * written each time.
 */
export class MarketTexts {
  readonly #parts: CatalogParts;
  readonly #kept = new Map<Market, Kept>();

  constructor(parts: CatalogParts) {
    this.#parts = parts;
  }

  async list(markets: readonly Market[], dialect: Dialect): Promise<string> {
    const factsOf = await this.#facts(markets, dialect);
    const items = markets.map((market) => `${this.#wordsOf(market)},${factsOf(market).slice(1)}`);
    return `[${items.join(',')}]`;
  }

  /** Fields of a market besides its texts, as the text of an object that is not empty. */
  async #facts(markets: readonly Market[], dialect: Dialect): Promise<(market: Market) => string> {
    if (dialect === 'specification') return () => mirrorText;
    const context = await marketContext(this.#parts, markets);
    return (market) => JSON.stringify(familyFacts(market, context));
  }

  /** The text of an object without its closing brace. */
  #wordsOf(market: Market): string {
    const event = this.#parts.catalog.event(market.eventId);
    const kept = this.#kept.get(market);
    if (kept !== undefined && kept.event === event) return kept.text;
    const events = event === undefined ? [] : [eventSummary(event)];
    const text = JSON.stringify({ ...eventMarket(market), events }).slice(0, -1);
    if (this.#kept.size >= keptMax) this.#kept.clear();
    this.#kept.set(market, { event, text });
    return text;
  }
}

const mirrorText = JSON.stringify(noMirror);
