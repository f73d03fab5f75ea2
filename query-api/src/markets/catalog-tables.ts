import type { CatalogEvent, CatalogSeries, CatalogTag } from '@pm/schemas';
import type { Figures } from './figures.ts';
import { acceptsOrders, type Market } from './market.ts';
import type { SortKey } from './row-order.ts';
import { RowTable } from './row-table.ts';

/** Bits of the state of an event, market or series. */
export const stateBits = { active: 1, closed: 2, archived: 4, sampling: 8 } as const;

/** Columns that lists of markets may be sorted by. */
export const marketColumns = [
  'id',
  'slug',
  'question',
  'startDate',
  'endDate',
  'createdAt',
  'updatedAt',
  'volume',
  'volume24hr',
  'liquidity',
] as const;

/** Columns that lists of events may be sorted by. */
export const eventColumns = [
  'id',
  'ticker',
  'slug',
  'title',
  'startDate',
  'endDate',
  'creationDate',
  'createdAt',
  'updatedAt',
  'volume',
  'volume24hr',
  'liquidity',
] as const;

/** Columns whose keys are texts; those of all others are numbers. */
export const textColumns: readonly string[] = ['ticker', 'slug', 'title', 'question'];

/** Columns whose keys come from figures, not from the log. */
export const figureColumns = ['volume', 'volume24hr', 'liquidity'] as const;

interface State {
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
}

/** Facts that the tables read from the catalog around them. */
export interface TableFacts {
  figuresOfMarket(market: Market): Figures;
  figuresOfEvent(id: string): Figures;
  /** Tags of the event a market belongs to. */
  tagIdsOf(market: Market): readonly string[];
  /** Wallets that made the markets of an event. */
  creatorsOf(eventId: string): readonly string[];
}

export function openMarketTable(facts: TableFacts): RowTable<Market> {
  return new RowTable<Market>({
    number: (market) => market.market,
    flags: (market) => bitsOf(market) | (isSampling(market) ? stateBits.sampling : 0),
    groups: (market) => [
      groupName.event(market.eventId),
      ...facts.tagIdsOf(market).map(groupName.tag),
      ...(market.creator === '' ? [] : [groupName.creator(market.creator.toLowerCase())]),
    ],
    columns: {
      id: (market) => market.market,
      slug: (market) => market.slug,
      question: (market) => market.question.toLowerCase(),
      startDate: (market) => market.startDateMs,
      endDate: (market) => market.endDateMs,
      createdAt: (market) => market.createdAtMs,
      updatedAt: (market) => market.updatedAtMs,
      volume: (market) => facts.figuresOfMarket(market).volumeMicro,
      volume24hr: (market) => facts.figuresOfMarket(market).dayVolumeMicro,
      liquidity: (market) => facts.figuresOfMarket(market).liquidityMicro,
    } satisfies Record<(typeof marketColumns)[number], (market: Market) => SortKey>,
  });
}

export function openEventTable(facts: TableFacts): RowTable<CatalogEvent> {
  return new RowTable<CatalogEvent>({
    number: (event) => Number(event.id),
    flags: bitsOf,
    groups: (event) => [
      ...event.tagIds.map(groupName.tag),
      ...event.seriesIds.map(groupName.series),
      ...facts.creatorsOf(event.id).map(groupName.creator),
    ],
    columns: {
      id: (event) => Number(event.id),
      ticker: (event) => event.ticker,
      slug: (event) => event.slug,
      title: (event) => event.title.toLowerCase(),
      startDate: (event) => event.startDateMs,
      endDate: (event) => event.endDateMs,
      creationDate: (event) => event.creationDateMs,
      createdAt: (event) => event.createdAtMs,
      updatedAt: (event) => event.updatedAtMs,
      volume: (event) => facts.figuresOfEvent(event.id).volumeMicro,
      volume24hr: (event) => facts.figuresOfEvent(event.id).dayVolumeMicro,
      liquidity: (event) => facts.figuresOfEvent(event.id).liquidityMicro,
    } satisfies Record<(typeof eventColumns)[number], (event: CatalogEvent) => SortKey>,
  });
}

export function openTagTable(): RowTable<CatalogTag> {
  return new RowTable<CatalogTag>({
    number: (tag) => Number(tag.id),
    flags: () => 0,
    groups: () => [],
    columns: {
      id: (tag) => Number(tag.id),
      slug: (tag) => tag.slug,
      label: (tag) => tag.label.toLowerCase(),
      createdAt: (tag) => tag.createdAtMs,
      updatedAt: (tag) => tag.updatedAtMs,
    },
  });
}

export function openSeriesTable(): RowTable<CatalogSeries> {
  return new RowTable<CatalogSeries>({
    number: (series) => Number(series.id),
    flags: bitsOf,
    groups: () => [],
    columns: {
      id: (series) => Number(series.id),
      ticker: (series) => series.ticker,
      slug: (series) => series.slug,
      title: (series) => series.title.toLowerCase(),
      createdAt: (series) => series.createdAtMs,
      updatedAt: (series) => series.updatedAtMs,
    },
  });
}

/** Names of groups of rows. */
export const groupName = {
  tag: (id: string) => `tag:${id}`,
  series: (id: string) => `series:${id}`,
  event: (id: string) => `event:${id}`,
  /** `wallet` in lower case. */
  creator: (wallet: string) => `creator:${wallet}`,
};

function bitsOf({ active, closed, archived }: State): number {
  return (
    (active ? stateBits.active : 0) |
    (closed ? stateBits.closed : 0) |
    (archived ? stateBits.archived : 0)
  );
}

/** Whether a market earns liquidity rewards now (conventions.md 5.5). */
function isSampling(market: Market): boolean {
  return market.rewardsDailyMicro > 0 && acceptsOrders(market);
}

/** How often a name was counted under a key; names that come to 0 are forgotten. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  /** True when the name is new under the key, or gone. */
  add(key: string, name: string, change: 1 | -1): boolean {
    const names = this.#counts.get(key) ?? new Map<string, number>();
    const count = (names.get(name) ?? 0) + change;
    if (count > 0) names.set(name, count);
    else names.delete(name);
    if (names.size > 0) this.#counts.set(key, names);
    else this.#counts.delete(key);
    return count <= 0 || (change === 1 && count === 1);
  }

  of(key: string): ReadonlyMap<string, number> {
    return this.#counts.get(key) ?? none;
  }

  namesOf(key: string): readonly string[] {
    return [...this.of(key).keys()];
  }
}

const none: ReadonlyMap<string, number> = new Map();
