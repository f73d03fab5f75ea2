import { Fault } from '@pm/kit/fault';
import type { Dialect } from '@pm/kit/http';
import type { CatalogEvent } from '@pm/schemas';
import { pricedBy } from '../books/tokens.ts';
import type { ReadPorts } from '../door/ports.ts';
import { figureColumns } from './catalog-tables.ts';
import type { ListContext } from './list-events.ts';
import type { Market } from './market.ts';
import type { RowSpan } from './row-table.ts';
import { eventSummary, familyFigures, listedEvent, wholeEvent } from './wire-event.ts';
import {
  eventMarket,
  familyMarket,
  listedMarket,
  type MarketContext,
  noMirror,
} from './wire-market.ts';

/** What answers of the catalog are made of. */
export type CatalogPorts = Pick<ReadPorts, 'catalog' | 'books' | 'lists'>;

/** How markets and events look to who asks. */
export interface AnswerForm {
  readonly dialect: Dialect;
  /** Wallets whose markets are shown; null for all (the parameter `creator`). */
  readonly creators: readonly string[] | null;
}

export function listContext({ catalog, lists }: CatalogPorts, dialect: Dialect): ListContext {
  return { catalog, sites: lists.sites, isFamily: dialect === 'family' };
}

/** Throws the `Fault` `figures_not_ready` (retry) when a list needs figures that were never read. */
export function assertFigures(
  { lists }: CatalogPorts,
  { rows, span }: { readonly rows: { readonly usesFigures?: boolean }; readonly span: RowSpan },
): void {
  const sorts = span.order.some((name) => figureColumns.some((column) => column === name));
  if ((sorts || rows.usesFigures === true) && lists.figuresAtMs() === null) {
    throw new Fault('figures_not_ready', 'retry');
  }
}

/** Markets as lists and single reads have them, each with its event. */
export async function marketAnswers(
  ports: CatalogPorts,
  markets: readonly Market[],
  dialect: Dialect,
): Promise<readonly object[]> {
  const form = await marketForm(ports, markets, dialect);
  const mirror = dialect === 'specification' ? noMirror : {};
  return markets.map((market) => {
    const event = ports.catalog.event(market.eventId);
    return { ...form(market), ...mirror, events: event === undefined ? [] : [eventSummary(event)] };
  });
}

/** Events as lists have them: their markets are reduced at the root and full under `/gamma`. */
export async function eventAnswers(
  ports: CatalogPorts,
  events: readonly CatalogEvent[],
  { dialect, creators }: AnswerForm,
): Promise<readonly object[]> {
  const { catalog } = ports;
  const shown = events.map((event) => ({ event, markets: marketsOf(ports, event, creators) }));
  if (dialect === 'specification') {
    return shown.map(({ event, markets }) =>
      listedEvent(catalog, event, markets.map(listedMarket)),
    );
  }
  const form = await marketForm(
    ports,
    shown.flatMap(({ markets }) => markets),
    dialect,
  );
  return shown.map(({ event, markets }) => ({
    ...listedEvent(catalog, event, markets.map(form)),
    ...familyFigures(catalog.figuresOfEvent(event.id)),
  }));
}

/** One event with everything. */
export async function eventAnswer(
  ports: CatalogPorts,
  event: CatalogEvent,
  { dialect, creators }: AnswerForm,
): Promise<object> {
  const { catalog } = ports;
  const markets = marketsOf(ports, event, creators);
  const form = await marketForm(ports, markets, dialect);
  const answer = wholeEvent(catalog, event, markets.map(form));
  if (dialect === 'specification') return answer;
  return { ...answer, ...familyFigures(catalog.figuresOfEvent(event.id)) };
}

function marketsOf(
  { catalog }: CatalogPorts,
  { id }: CatalogEvent,
  creators: readonly string[] | null,
): readonly Market[] {
  const markets = catalog.marketsOf(id);
  if (creators === null) return markets;
  return markets.filter(({ creator }) => creators.includes(creator.toLowerCase()));
}

async function marketForm(
  ports: CatalogPorts,
  markets: readonly Market[],
  dialect: Dialect,
): Promise<(market: Market) => object> {
  if (dialect === 'specification') return eventMarket;
  const context = await marketContext(ports, markets);
  return (market) => familyMarket(market, context);
}

/** What fuller markets are made of, of these markets. */
export async function marketContext(
  { catalog, books }: CatalogPorts,
  markets: readonly Market[],
): Promise<MarketContext> {
  return {
    quotes: await books.quotes(pricedBy(markets)),
    figures: (market) => catalog.figuresOfMarket(market),
  };
}
