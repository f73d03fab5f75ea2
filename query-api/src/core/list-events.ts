import { type CatalogEvent, parseWalletAddress } from '@pm/schemas';
import type { Catalog, Market } from './catalog.ts';
import { QueryReader, type RawQuery } from './query-reader.ts';
import type { ReadRefusal } from './refusal.ts';

/** Notional of a market in micro-USDC. */
export interface Volume {
  readonly totalMicro: number;
  readonly dayMicro: number;
}
/** Volumes by market number; markets that never traded are not in it. */
export type Volumes = ReadonlyMap<number, Volume>;

type Key = string | number;
type SortKey = (event: CatalogEvent, volumes: (event: CatalogEvent) => Volume) => Key;

/** Columns the list may be sorted by (docs/conventions.md 6.5, without liquidity, which nothing here knows). */
const sortKeys: Readonly<Record<string, SortKey>> = {
  id: (event) => Number(event.id),
  ticker: (event) => event.ticker,
  slug: (event) => event.slug,
  title: (event) => event.title.toLowerCase(),
  startDate: (event) => event.startDateMs,
  endDate: (event) => event.endDateMs,
  creationDate: (event) => event.creationDateMs,
  createdAt: (event) => event.createdAtMs,
  updatedAt: (event) => event.updatedAtMs,
  volume: (event, volumes) => volumes(event).totalMicro,
  volume24hr: (event, volumes) => volumes(event).dayMicro,
};
const volumeColumns = ['volume', 'volume24hr'];
const sortColumnsMax = 4;
const filterItemsMax = 100;
const offsetMax = 1_000_000;
const noVolume: Volume = { totalMicro: 0, dayMicro: 0 };

export interface EventsQuery {
  readonly limit: number;
  readonly offset: number;
  readonly active: boolean | null;
  readonly closed: boolean | null;
  readonly archived: boolean | null;
  readonly tagId: string | null;
  readonly tagSlug: string | null;
  readonly seriesSlug: string | null;
  readonly slugs: readonly string[] | null;
  readonly ids: readonly string[] | null;
  readonly order: readonly string[];
  readonly ascending: boolean;
  readonly creator: string | null;
}

/** The parameters of GET /events, or why not. */
export function readEventsQuery(query: RawQuery): EventsQuery | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const tagId = read.optionalInteger('tag_id', { min: 0, max: Number.MAX_SAFE_INTEGER });
  const parsed: EventsQuery = {
    limit: read.integer('limit', { min: 1, max: 100, otherwise: 20 }),
    offset: read.integer('offset', { min: 0, max: offsetMax, otherwise: 0 }),
    active: read.boolean('active'),
    closed: read.boolean('closed'),
    archived: read.boolean('archived'),
    tagId: tagId === null ? null : String(tagId),
    tagSlug: read.text('tag_slug') ?? read.text('tag'),
    seriesSlug: read.text('series_slug'),
    slugs: read.list('slug', filterItemsMax, (text) => text),
    ids: read.list('id', filterItemsMax, (text) => (/^\d{1,15}$/.test(text) ? text : null)),
    order: read.list('order', sortColumnsMax, sortColumn) ?? ['id'],
    ascending: read.boolean('ascending') ?? false,
    creator: read.text('creator'),
  };
  return read.refusal ?? parsed;
}

export function sortsByVolume(query: EventsQuery): boolean {
  return query.order.some((column) => volumeColumns.includes(column));
}

function sortColumn(text: string): string | null {
  return Object.hasOwn(sortKeys, text) ? text : null;
}

/** The page of events a query asks for; unknown tags, series and creators have none. */
export function listEvents(
  catalog: Catalog,
  query: EventsQuery,
  volumes: Volumes,
): readonly CatalogEvent[] {
  const found = [...candidates(catalog, query)].filter((event) => matches(catalog, query, event));
  const volumeOf = (event: CatalogEvent) => eventVolume(catalog, event, volumes);
  const keys = query.order.flatMap((column) => sortKeys[column] ?? []);
  const rows = found.map((event) => ({ event, keys: keys.map((key) => key(event, volumeOf)) }));
  const direction = query.ascending ? 1 : -1;
  rows.sort(
    (left, right) =>
      direction *
      (compareKeys(left.keys, right.keys) || Number(left.event.id) - Number(right.event.id)),
  );
  return rows.slice(query.offset, query.offset + query.limit).map((row) => row.event);
}

/** The smallest indexed set that holds every match. */
function candidates(catalog: Catalog, query: EventsQuery): Iterable<CatalogEvent> {
  if (query.ids !== null) return new Set(query.ids.flatMap((id) => catalog.event(id) ?? []));
  if (query.slugs !== null) {
    return new Set(query.slugs.flatMap((slug) => catalog.eventBySlug(slug) ?? []));
  }
  const tagId = query.tagId ?? tagIdOf(catalog, query.tagSlug);
  return tagId === null ? catalog.events() : catalog.eventsOfTag(tagId);
}

function matches(catalog: Catalog, query: EventsQuery, event: CatalogEvent): boolean {
  return (
    fits(query.active, event.active) &&
    fits(query.closed, event.closed) &&
    fits(query.archived, event.archived) &&
    (query.tagId === null || event.tagIds.includes(query.tagId)) &&
    (query.tagSlug === null || event.tagIds.includes(tagIdOf(catalog, query.tagSlug) ?? '')) &&
    (query.slugs === null || query.slugs.includes(event.slug)) &&
    inSeries(catalog, query.seriesSlug, event) &&
    (query.creator === null || hasCreator(catalog.marketsOf(event.id), query.creator))
  );
}

function fits(wanted: boolean | null, actual: boolean): boolean {
  return wanted === null || wanted === actual;
}

/** The id behind a tag slug; an unknown slug gives one that no event carries. */
function tagIdOf(catalog: Catalog, slug: string | null): string | null {
  return slug === null ? null : (catalog.tagBySlug(slug)?.id ?? '');
}

function inSeries(catalog: Catalog, slug: string | null, event: CatalogEvent): boolean {
  return slug === null || event.seriesIds.includes(catalog.seriesBySlug(slug)?.id ?? '');
}

/** Whether any of the markets was made by this wallet; site identifiers name no wallet here, so they match none. */
export function hasCreator(markets: readonly Market[], creator: string): boolean {
  const wallet = parseWalletAddress(creator);
  return wallet !== null && markets.some((market) => market.creator.toLowerCase() === wallet);
}

function eventVolume(catalog: Catalog, event: CatalogEvent, volumes: Volumes): Volume {
  let totalMicro = 0;
  let dayMicro = 0;
  for (const market of catalog.marketsOf(event.id)) {
    const volume = volumes.get(market.market) ?? noVolume;
    totalMicro += volume.totalMicro;
    dayMicro += volume.dayMicro;
  }
  return { totalMicro, dayMicro };
}

function compareKeys(left: readonly Key[], right: readonly Key[]): number {
  for (const [index, key] of left.entries()) {
    const other = right[index] ?? key;
    if (key < other) return -1;
    if (key > other) return 1;
  }
  return 0;
}
