import type { Catalog } from '@pm/domain/markets/catalog';
import { figureColumns, moveColumns } from '@pm/domain/markets/catalog-tables';
import type { Market } from '@pm/domain/markets/market';
import type { RowSpan } from '@pm/domain/markets/row-table';
import { eventMarket, listedMarket, noMirror } from '@pm/domain/markets/wire-market';
import { Fault } from '@pm/kit/fault';
import type { Dialect } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas/log/catalog';
import type { StoredBooks } from '../books/stored-books.io.ts';
import { pricedBy } from '../books/tokens.ts';
import type { EventSearch } from '../search/event-search.io.ts';
import type { CreatorSites } from '../social/creators.ts';
import { familyMarket, type MarketContext } from './family-market.ts';
import type { FiguresWatch } from './figures.io.ts';
import type { ListContext } from './list-events.ts';
import { eventSummary, familyFigures, listedEvent, wholeEvent } from './wire-event.ts';

export interface CatalogParts {
  readonly catalog: Catalog;
  readonly books: Pick<StoredBooks, 'quotes'>;
  readonly search: Pick<EventSearch, 'isReady' | 'find'>;
  readonly sites: CreatorSites;
  readonly figures: Pick<FiguresWatch, 'readAtMs'>;
}

/** Parts that responses of the catalog are made of. */

/** The form of markets and events in a response. */
export interface AnswerForm {
  readonly dialect: Dialect;
  /** Wallets whose markets are shown; null for all (the parameter `creator`). */
  readonly creators: readonly string[] | null;
}

export function listContext({ catalog, sites }: CatalogParts, dialect: Dialect): ListContext {
  return { catalog, sites: sites, isFamily: dialect === 'family' };
}

/** Throws the `Fault` `figures_not_ready` (retry) when a list needs figures that were never read. */
export function assertFigures(
  { figures }: CatalogParts,
  { rows, span }: { readonly rows: { readonly usesFigures?: boolean }; readonly span: RowSpan },
): void {
  const columns: readonly string[] = [...figureColumns, ...moveColumns];
  const sorts = span.order.some((name) => columns.includes(name));
  if ((sorts || rows.usesFigures === true) && figures.readAtMs() === null) {
    throw new Fault('figures_not_ready', 'retry');
  }
}

/** Markets as lists and single reads have them, each with its event. */
export async function marketAnswers(
  parts: CatalogParts,
  markets: readonly Market[],
  dialect: Dialect,
): Promise<readonly object[]> {
  const form = await marketForm(parts, markets, dialect);
  const mirror = dialect === 'specification' ? noMirror : {};
  return markets.map((market) => {
    const event = parts.catalog.event(market.eventId);
    return { ...form(market), ...mirror, events: event === undefined ? [] : [eventSummary(event)] };
  });
}

/** Events as lists have them: their markets are reduced at the root and full under `/gamma`. */
export async function eventAnswers(
  parts: CatalogParts,
  events: readonly CatalogEvent[],
  { dialect, creators }: AnswerForm,
): Promise<readonly object[]> {
  const { catalog } = parts;
  const shown = events.map((event) => ({ event, markets: marketsOf(parts, event, creators) }));
  if (dialect === 'specification') {
    return shown.map(({ event, markets }) =>
      listedEvent(catalog, event, markets.map(listedMarket)),
    );
  }
  const form = await marketForm(
    parts,
    shown.flatMap(({ markets }) => markets),
    dialect,
  );
  return shown.map(({ event, markets }) => ({
    ...listedEvent(catalog, event, markets.map(form)),
    ...familyFigures(event, catalog.figuresOfEvent(event.id)),
  }));
}

/** One event with everything. */
export async function eventAnswer(
  parts: CatalogParts,
  event: CatalogEvent,
  { dialect, creators }: AnswerForm,
): Promise<object> {
  const { catalog } = parts;
  const markets = marketsOf(parts, event, creators);
  const form = await marketForm(parts, markets, dialect);
  const answer = wholeEvent(catalog, event, markets.map(form));
  if (dialect === 'specification') return answer;
  return { ...answer, ...familyFigures(event, catalog.figuresOfEvent(event.id)) };
}

function marketsOf(
  { catalog }: CatalogParts,
  { id }: CatalogEvent,
  creators: readonly string[] | null,
): readonly Market[] {
  const markets = catalog.marketsOf(id);
  if (creators === null) return markets;
  return markets.filter(({ creator }) => creators.includes(creator.toLowerCase()));
}

async function marketForm(
  parts: CatalogParts,
  markets: readonly Market[],
  dialect: Dialect,
): Promise<(market: Market) => object> {
  if (dialect === 'specification') return eventMarket;
  const context = await marketContext(parts, markets);
  return (market) => familyMarket(market, context);
}

/** The data of these markets in their fuller form. */
export async function marketContext(
  { catalog, books }: CatalogParts,
  markets: readonly Market[],
): Promise<MarketContext> {
  return {
    quotes: await books.quotes(pricedBy(markets)),
    figures: (market) => catalog.figuresOfMarket(market),
  };
}
