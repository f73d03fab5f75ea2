import type { Catalog } from '@pm/domain/markets/catalog';
import { groupName } from '@pm/domain/markets/catalog-tables';
import { QueryReader, type RawQuery } from '@pm/domain/reading/query-reader';
import type { ReadRefusal } from '@pm/domain/reading/refusal';
import type { CatalogEvent, CatalogTag } from '@pm/schemas/log/catalog';
import type { ListContext } from '../markets/list-events.ts';
import { creatorWallets } from '../social/creators.ts';
import { places, type SearchMatch } from './search-index.ts';
import { asTyped, type SearchWords, searchWords } from './search-words.ts';

export interface SearchQuery {
  readonly words: SearchWords;
  readonly limit: number;
  readonly page: number;
  readonly withTags: boolean;
  /** Wallets whose events are looked at; null for all. */
  readonly creators: readonly string[] | null;
  readonly closed: boolean | null;
  readonly sort: 'volume' | 'volume24hr' | 'liquidity' | 'startDate' | 'endDate' | null;
  readonly ascending: boolean;
}

/** A page of what was found, and how much there is. */
export interface SearchPage {
  readonly events: readonly CatalogEvent[];
  readonly tags: readonly { readonly tag: CatalogTag; readonly eventCount: number }[];
  readonly hasMore: boolean;
  readonly totalResults: number;
}

/** As long as a title may be, so that each can be searched as it stands. */
const queryMaxChars = 500;
const limitMax = 500;
const limitDefault = 25;
const closedStates = ['closed', 'resolved'];
const sorts: Readonly<Record<string, SearchQuery['sort']>> = {
  volume: 'volume',
  volume24hr: 'volume24hr',
  volume_24hr: 'volume24hr',
  liquidity: 'liquidity',
  startDate: 'startDate',
  start_date: 'startDate',
  endDate: 'endDate',
  end_date: 'endDate',
};

/**
 * The parameters of GET /public-search, or why not. What clients of the mounts send besides (`optimized`, `cache`,
 * `keep_closed_markets`) changes nothing; profiles are never searched.
 */
export function readSearchQuery(
  query: RawQuery,
  { sites }: ListContext,
): SearchQuery | ReadRefusal {
  const read = new QueryReader(query, 'gamma');
  const words = searchWords(read.text('q', queryMaxChars) ?? '');
  if (words.requested === '') read.missing('q');
  const creator = read.text('creator');
  const status = read.text('events_status')?.toLowerCase() ?? null;
  read.boolean('search_profiles');
  const parsed: SearchQuery = {
    words,
    limit: read.integer('limit_per_type', { min: 1, max: limitMax, otherwise: limitDefault }),
    page: read.integer('page', { min: 1, otherwise: 1 }),
    withTags: read.boolean('search_tags') ?? true,
    creators: creator === null ? null : creatorWallets(creator, sites),
    closed: closedOf(status),
    sort: sortOf(read.text('sort')),
    ascending: read.boolean('ascending') ?? false,
  };
  return read.refusal ?? parsed;
}

function closedOf(status: string | null): boolean | null {
  if (status === 'active') return false;
  return status !== null && closedStates.includes(status) ? true : null;
}

/** An order that is not known is no order: the best text comes first. */
function sortOf(text: string | null): SearchQuery['sort'] {
  return text !== null && Object.hasOwn(sorts, text) ? (sorts[text] ?? null) : null;
}

/** Events by rank (or by `sort`), tags by likeness and size; archived events are hidden. */
export function searchPage(
  catalog: Catalog,
  matches: readonly SearchMatch[],
  query: SearchQuery,
): SearchPage {
  const from = (query.page - 1) * query.limit;
  const to = from + query.limit;
  const ranks = rankedEvents(catalog, matches, query);
  const total = ranks.reduce((sum, rows) => sum + rows.length, 0);
  const tags = query.withTags ? rankedTags(catalog, query) : [];
  return {
    events: pageOfRanks(ranks, { from, to }, query).map(({ event }) => event),
    tags: tags.slice(from, to),
    hasMore: total > to || tags.length > to,
    totalResults: total,
  };
}

interface RankedEvent {
  readonly event: CatalogEvent;
  readonly number: number;
  readonly figure: number;
}

/** Events of each rank, the highest rank first, in no order within one. */
function rankedEvents(
  catalog: Catalog,
  matches: readonly SearchMatch[],
  query: SearchQuery,
): readonly (readonly RankedEvent[])[] {
  const ranks: RankedEvent[][] = Array.from({ length: highestRank + 1 }, () => []);
  for (const match of matches) {
    const event = catalog.event(match.id);
    if (event === undefined || !isWanted(catalog, event, query)) continue;
    const rank = query.sort === null ? rankOf(match, event, query.words) : 0;
    const figure = figureOf(catalog, event, query.sort ?? 'volume');
    ranks[rank]?.push({ event, number: Number(event.id), figure });
  }
  return ranks.reverse();
}

/** A page across ranks: only those that it touches are sorted, by figure, then newest first. */
function pageOfRanks(
  ranks: readonly (readonly RankedEvent[])[],
  { from, to }: { readonly from: number; readonly to: number },
  { sort, ascending }: SearchQuery,
): readonly RankedEvent[] {
  const direction = sort !== null && ascending ? -1 : 1;
  const compare = (left: RankedEvent, right: RankedEvent) =>
    direction * (right.figure - left.figure) || right.number - left.number;
  const page: RankedEvent[] = [];
  let before = 0;
  for (const rows of ranks) {
    const [first, last] = [from - before, to - before];
    before += rows.length;
    if (last <= 0 || first >= rows.length) continue;
    page.push(...firstSorted(rows, last, compare).slice(Math.max(0, first)));
  }
  return page;
}

const highestRank = 6;

function isWanted(catalog: Catalog, event: CatalogEvent, query: SearchQuery): boolean {
  if (event.archived || (query.closed !== null && event.closed !== query.closed)) return false;
  const { creators } = query;
  return creators === null || catalog.creatorsOf(event.id).some((one) => creators.includes(one));
}

function figureOf(
  catalog: Catalog,
  event: CatalogEvent,
  column: Exclude<SearchQuery['sort'], null>,
): number {
  if (column === 'startDate') return event.startDateMs;
  if (column === 'endDate') return event.endDateMs;
  const figures = catalog.figuresOfEvent(event.id);
  if (column === 'liquidity') return figures.liquidityMicro;
  return column === 'volume' ? figures.volumeMicro : figures.dayVolumeMicro;
}

/**
 * Exact slug or title, the words of the title and no others, its start, all words in the title, in the questions,
 * anywhere (conventions.md 5.7).
 */
function rankOf(match: SearchMatch, event: CatalogEvent, { requested, text }: SearchWords): number {
  if (event.slug.toLowerCase() === requested) return highestRank;
  if (match.title === text) return asTyped(event.title) === requested ? highestRank : 5;
  if (match.title.startsWith(text)) return 4;
  if (match.place === places.title) return 3;
  return match.place === places.questions ? 2 : 1;
}

/**
 * Tags whose label or slug has all words, each at the start of one; the same one first, then the larger. Of a creator
 * those that are on events of that creator, with the number of these.
 */
function rankedTags(catalog: Catalog, { words, creators }: SearchQuery): SearchPage['tags'] {
  const { text, all } = words;
  if (all.length === 0) return [];
  const found: { tag: CatalogTag; eventCount: number; isSame: boolean }[] = [];
  for (const tag of catalog.tags()) {
    const label = searchWords(tag.label);
    const own = [...label.all, ...searchWords(tag.slug).all];
    if (!all.every((word) => own.some((other) => other.startsWith(word)))) continue;
    const eventCount = eventsOfTag(catalog, tag, creators);
    if (creators !== null && eventCount === 0) continue;
    found.push({ tag, eventCount, isSame: label.text === text });
  }
  return found.sort(
    (left, right) =>
      Number(right.isSame) - Number(left.isSame) ||
      right.eventCount - left.eventCount ||
      Number(left.tag.id) - Number(right.tag.id),
  );
}

function eventsOfTag(
  { eventTable }: Catalog,
  { id }: CatalogTag,
  creators: readonly string[] | null,
): number {
  const group = groupName.tag(id);
  if (creators === null) return eventTable.sizeOf(group);
  return eventTable.count({ groups: [group, creators.map(groupName.creator)] });
}

/** If more than one row in this number is requested, all rows are sorted. */
const pickedShare = 16;

/** The first rows of a sorted list; a few of many are picked out without sorting the others. */
export function firstSorted<T>(
  rows: readonly T[],
  count: number,
  compare: (left: T, right: T) => number,
): readonly T[] {
  if (count * pickedShare > rows.length) return rows.toSorted(compare).slice(0, count);
  let picked: T[] = [];
  /** A row after this one is after enough others. */
  let bar: T | undefined;
  for (const row of rows) {
    if (bar !== undefined && compare(row, bar) >= 0) continue;
    picked.push(row);
    if (picked.length < 2 * count) continue;
    picked = picked.sort(compare).slice(0, count);
    bar = picked.at(-1);
  }
  return picked.sort(compare).slice(0, count);
}
