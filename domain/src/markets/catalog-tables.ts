import type { CatalogEvent, CatalogSeries, CatalogTag } from '@pm/schemas/log/catalog';
import { type Figures, type MarketFigures, type PriceMoves, shownMoves } from './figures.ts';
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
  'closedTime',
  'rewardsMinSize',
  'rewardsMaxSpread',
  'volume',
  'volume24hr',
  'volume1wk',
  'volume1mo',
  'volume1yr',
  'liquidity',
  'competitive',
  'oneDayPriceChange',
  'oneWeekPriceChange',
  'oneMonthPriceChange',
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
  'closedTime',
  'volume',
  'volume24hr',
  'volume1wk',
  'volume1mo',
  'volume1yr',
  'liquidity',
] as const;

/** Columns whose keys are texts; those of all others are numbers. */
export const textColumns: readonly string[] = ['ticker', 'slug', 'title', 'question'];

/** Figures of markets and events by column: their keys do not come from the log. */
const figureKeys = {
  volume: ({ volumeMicro }) => volumeMicro,
  volume24hr: ({ dayVolumeMicro }) => dayVolumeMicro,
  volume1wk: ({ weekVolumeMicro }) => weekVolumeMicro,
  volume1mo: ({ monthVolumeMicro }) => monthVolumeMicro,
  volume1yr: ({ yearVolumeMicro }) => yearVolumeMicro,
  liquidity: ({ liquidityMicro }) => liquidityMicro,
} as const satisfies Record<string, (figures: Figures) => number>;

/** Moves of markets by column. A change that is not known counts as none. */
const moveKeys = {
  competitive: ({ competitive }) => competitive,
  oneDayPriceChange: ({ dayMicro }) => dayMicro ?? 0,
  oneWeekPriceChange: ({ weekMicro }) => weekMicro ?? 0,
  oneMonthPriceChange: ({ monthMicro }) => monthMicro ?? 0,
} as const satisfies Record<string, (moves: PriceMoves) => number>;

type FigureColumn = keyof typeof figureKeys;
type MoveColumn = keyof typeof moveKeys;
export const figureColumns = Object.keys(figureKeys) as readonly FigureColumn[];
export const moveColumns = Object.keys(moveKeys) as readonly MoveColumn[];

type KeyOf<T> = (row: T) => SortKey;

function figureColumnsOf<T>(read: (row: T) => Figures): Record<FigureColumn, KeyOf<T>> {
  const keyed = figureColumns.map((name) => [name, (row: T) => figureKeys[name](read(row))]);
  return Object.fromEntries(keyed) as Record<FigureColumn, KeyOf<T>>;
}

function moveColumnsOf<T>(read: (row: T) => PriceMoves): Record<MoveColumn, KeyOf<T>> {
  const keyed = moveColumns.map((name) => [name, (row: T) => moveKeys[name](read(row))]);
  return Object.fromEntries(keyed) as Record<MoveColumn, KeyOf<T>>;
}

interface State {
  readonly active: boolean;
  readonly closed: boolean;
  readonly archived: boolean;
}

/** Facts that the tables read from the catalog around them. */
export interface TableFacts {
  figuresOfMarket(market: Market): MarketFigures;
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
      closedTime: (market) => market.closedAtMs,
      rewardsMinSize: (market) => market.rewardsMinSizeMicro,
      rewardsMaxSpread: (market) => market.rewardsMaxSpread,
      ...figureColumnsOf((market: Market) => facts.figuresOfMarket(market)),
      ...moveColumnsOf((market: Market) => shownMoves(market, facts.figuresOfMarket(market))),
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
      closedTime: (event) => event.closedAtMs,
      ...figureColumnsOf((event: CatalogEvent) => facts.figuresOfEvent(event.id)),
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
