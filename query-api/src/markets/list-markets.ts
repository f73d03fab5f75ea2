import type { Catalog } from '@pm/domain/markets/catalog';
import { groupName, marketColumns } from '@pm/domain/markets/catalog-tables';
import type { Market } from '@pm/domain/markets/market';
import { requestedListing } from '@pm/domain/markets/market-filter';
import type { RowQuery, RowSpan } from '@pm/domain/markets/row-table';
import { resolutionStatus } from '@pm/domain/markets/wire-market';
import { parseCatalogId, QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import { resolutionStatuses } from '@pm/schemas/http/catalog';
import { parseAsset, parseConditionId } from '@pm/schemas/ids';
import { creatorGroups } from '../social/creators.ts';
import { type ListContext, readTagGroups } from './list-events.ts';
import {
  bothOf,
  dateRanges,
  type Range,
  type ReadPage,
  readRanges,
  readState,
} from './list-query.ts';

/** Items of a filter by ids; clients request all the markets they hold at once. */
const filterItemsMax = 500;

/** A page of markets: which ones, and where it stands. */
export interface MarketsQuery<S extends RowSpan> {
  readonly rows: RowQuery<Market>;
  readonly span: S;
}

/** Events and markets share the names of columns; a market's ticker is its slug, its title its question. */
const columns = {
  list: 'markets',
  names: marketColumns,
  also: { ticker: 'slug', title: 'question', creationDate: 'createdAt' },
};

/** The parameters of GET /markets as the catalog has it, and its relatives, or why not. */
export function readMarketsQuery<S extends RowSpan>(
  query: RawQuery,
  context: ListContext,
  readPage: ReadPage<S>,
): MarketsQuery<S> | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const parsed = {
    rows: {
      ...readConditions(read, context.catalog),
      flags: readState(read),
      groups: readGroups(read, context),
      only: readOnly(read, context.catalog),
    },
    span: readPage(read, columns, context),
  };
  return read.refusal ?? parsed;
}

/** Bounds, and states of resolutions. */
function readConditions(read: QueryReader, catalog: Catalog) {
  const ranges = readRanges(read, rangesOf(catalog));
  const isStatus = (text: string) => resolutionStatuses.find((status) => status === text) ?? null;
  const wanted = ['uma_resolution_status', 'uma_resolution_statuses'].flatMap((name) => {
    const statuses = read.list(name, resolutionStatuses.length, isStatus);
    return statuses === null ? [] : [statuses];
  });
  if (wanted.length === 0) return ranges;
  const isWanted = (market: Market) => {
    const status = resolutionStatus(market);
    return status !== null && wanted.every((statuses) => statuses.includes(status));
  };
  return { ...ranges, test: bothOf(ranges.test, isWanted) };
}

function readGroups(read: QueryReader, { catalog, sites }: ListContext) {
  const ofTags = readTagGroups(read, catalog);
  const eventId = read.id('event_id');
  const eventSlugs = ['event_slug', 'eventSlug'].flatMap((name) => read.text(name) ?? []);
  const creator = read.text('creator');
  return [
    ...ofTags,
    ...(eventId === null ? [] : [groupName.event(eventId)]),
    ...eventSlugs.map((slug) => groupName.event(catalog.eventBySlug(slug)?.id ?? '')),
    ...(creator === null ? [] : [creatorGroups(creator, sites)]),
  ];
}

/**
 * How markets are named by lists of ids; a market must be named by each list that is given. None is paired with one of
 * another venue (`mirror`).
 */
function readOnly(read: QueryReader, catalog: Catalog): readonly Market[] | null {
  if (read.boolean('mirror') === true) return [];
  const find =
    <T>(parse: (text: string) => T | null, named: (id: T) => Market | undefined) =>
    (name: string): ReadonlySet<Market> | null => {
      const ids = read.list(name, filterItemsMax, parse);
      return ids === null ? null : new Set(ids.flatMap((id) => named(id) ?? []));
    };
  const byId = find(parseCatalogId, (id) => catalog.marketById(id));
  const bySlug = find(
    (text) => text,
    (slug) => catalog.marketBySlug(slug),
  );
  const byCondition = find(parseConditionId, (id) => catalog.byCondition(id));
  const byToken = find(parseAsset, (asset) => requestedListing(catalog, asset)?.market);
  const sets = [
    byId('id'),
    bySlug('slug'),
    ...['conditionId', 'condition_id', 'condition_ids', 'conditionIds'].map(byCondition),
    ...['clob_token_ids', 'clobTokenIds'].map(byToken),
  ].filter((set) => set !== null);
  const [first, ...others] = sets;
  if (first === undefined) return null;
  return [...first].filter((market) => others.every((set) => set.has(market)));
}

function rangesOf(catalog: Catalog): readonly Range<Market>[] {
  return [
    {
      min: ['volume_min', 'volume_num_min'],
      max: ['volume_max', 'volume_num_max'],
      of: (market) => catalog.figuresOfMarket(market).volumeMicro,
      kind: 'figure',
    },
    {
      min: ['liquidity_min', 'liquidity_num_min'],
      max: ['liquidity_max', 'liquidity_num_max'],
      of: (market) => catalog.figuresOfMarket(market).liquidityMicro,
      kind: 'figure',
    },
    {
      min: ['rewards_min_size'],
      max: [],
      of: ({ rewardsMinSizeMicro }) => rewardsMinSizeMicro,
      kind: 'amount',
    },
    ...dateRanges,
  ];
}
