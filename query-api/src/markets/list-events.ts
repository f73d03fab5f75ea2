import type { Catalog } from '@pm/domain/markets/catalog';
import { eventColumns, groupName } from '@pm/domain/markets/catalog-tables';
import type { RowQuery, RowSpan } from '@pm/domain/markets/row-table';
import { parseCatalogId, QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { CatalogEvent } from '@pm/schemas/log/catalog';
import { type CreatorSites, creatorWallets } from '../social/creators.ts';
import {
  bothOf,
  dateRanges,
  type ListDialect,
  type Range,
  type ReadPage,
  readRanges,
  readState,
} from './list-query.ts';

const filterItemsMax = 100;

/** A page of events: which ones, and where it stands. */
export interface EventsQuery<S extends RowSpan> {
  readonly rows: RowQuery<CatalogEvent>;
  readonly span: S;
  /** Wallets of the parameter `creator`; null without it. */
  readonly creators: readonly string[] | null;
}

/** Context that a list is read in. */
export interface ListContext extends ListDialect {
  readonly catalog: Catalog;
  readonly sites: CreatorSites;
}

const columns = { list: 'events', names: eventColumns };

/** The parameters of GET /events and its relatives, or why not; unknown tags, series and creators have no events. */
export function readEventsQuery<S extends RowSpan>(
  query: RawQuery,
  context: ListContext,
  readPage: ReadPage<S>,
): EventsQuery<S> | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const creator = read.text('creator');
  const creators = creator === null ? null : creatorWallets(creator, context.sites);
  const ranges = readRanges(read, rangesOf(context.catalog));
  const parsed = {
    creators,
    rows: {
      ...ranges,
      flags: readState(read),
      groups: [
        ...readGroups(read, context),
        ...(creators === null ? [] : [creators.map(groupName.creator)]),
      ],
      only: readOnly(read, context.catalog),
      test: bothOf(ranges.test, readExclusion(read)),
    },
    span: readPage(read, columns, context),
  };
  return read.refusal ?? parsed;
}

/** The parameters that name tags, by id or by slug: rows have all of them. A tag that is not known has nothing. */
export function readTagGroups(read: QueryReader, catalog: Catalog): readonly string[] {
  const id = read.id('tag_id');
  const slugs = ['tag_slug', 'tag'].flatMap((name) => read.text(name) ?? []);
  const ids = slugs.map((slug) => catalog.tagBySlug(slug)?.id ?? '');
  return [...(id === null ? [] : [id]), ...ids].map(groupName.tag);
}

function readGroups(read: QueryReader, { catalog }: ListContext) {
  const ofTags = readTagGroups(read, catalog);
  const seriesId = read.id('series_id');
  const seriesSlug = read.text('series_slug');
  return [
    ...ofTags,
    ...(seriesId === null ? [] : [groupName.series(seriesId)]),
    ...(seriesSlug === null ? [] : [groupName.series(catalog.seriesBySlug(seriesSlug)?.id ?? '')]),
  ];
}

/** `slug` and `id` name events; of both, those that both name. */
function readOnly(read: QueryReader, catalog: Catalog): readonly CatalogEvent[] | null {
  const slugs = read.list('slug', filterItemsMax, (text) => text);
  const ids = read.list('id', filterItemsMax, parseCatalogId);
  if (slugs === null && ids === null) return null;
  const bySlug = slugs?.flatMap((slug) => catalog.eventBySlug(slug) ?? []) ?? null;
  const byId = ids?.flatMap((id) => catalog.event(id) ?? []) ?? null;
  if (bySlug === null || byId === null) return bySlug ?? byId;
  return bySlug.filter((event) => byId.includes(event));
}

function readExclusion(read: QueryReader): ((event: CatalogEvent) => boolean) | null {
  const excluded = read.list('exclude_tag_id', filterItemsMax, parseCatalogId);
  if (excluded === null) return null;
  return (event) => !event.tagIds.some((id) => excluded.includes(id));
}

function rangesOf(catalog: Catalog): readonly Range<CatalogEvent>[] {
  return [
    {
      min: ['volume_min'],
      max: ['volume_max'],
      of: ({ id }) => catalog.figuresOfEvent(id).volumeMicro,
      kind: 'figure',
    },
    {
      min: ['liquidity_min'],
      max: ['liquidity_max'],
      of: ({ id }) => catalog.figuresOfEvent(id).liquidityMicro,
      kind: 'figure',
    },
    ...dateRanges,
  ];
}
