import type { RawQuery } from '@pm/domain/reading/query-reader';
import { type ReadRefusal, refusedRead } from '@pm/domain/reading/refusal';
import type { RouteFamily } from '@pm/schemas/routes/route';
import { routes } from '@pm/schemas/routes/routes';

/** Parameters that say how a result is cut, sorted or shown, and leave nothing out of it. */
const notNarrowing: ReadonlySet<string> = new Set([
  ...['limit', 'limit_per_type', 'offset', 'page', 'next_cursor', 'after_cursor', 'cursor'],
  ...['order', 'ascending', 'sort', 'sortBy', 'sortDirection', 'orderBy', 'get_positions'],
  ...['interval', 'fidelity', 'level', 'at', 'at_offset', 'signature_type'],
]);

/** Filters of published clients and references of the family that no route here has. */
const ofFamilyOnly = [
  // Events and markets.
  ...['cyom', 'decimalized', 'ended', 'event_date', 'event_week', 'featured', 'game_id', 'live'],
  ...['market_maker_address', 'market_maker_addresses', 'parent_event_id'],
  ...['partner_slug', 'position_ids', 'question_ids', 'rfq_enabled'],
  ...['sports_market_types', 'start_time_max', 'start_time_min', 'title_search'],
  // Tags, series and search.
  ...['categories_ids', 'categories_labels', 'events_tag', 'is_carousel', 'presets'],
  // Rewards.
  ...['event_title', 'max_price', 'max_spread', 'max_volume_24hr', 'min_price', 'min_spread'],
  ...['min_volume_24hr', 'no_competition', 'sponsored'],
];

const reads = routes.filter(({ service, method }) => service === 'query-api' && method === 'GET');

const declaredBy = (path: string): readonly string[] =>
  reads
    .filter((route) => route.path === path)
    .flatMap(({ query }) => Object.keys(query?.properties ?? {}));

/** All parameters of the family that narrow a result of some route. */
export const knownFilters: ReadonlySet<string> = new Set(
  [...reads.flatMap(({ path }) => declaredBy(path)), ...ofFamilyOnly].filter(
    (name) => !notNarrowing.has(name),
  ),
);

/** Nothing is left of an empty list, whatever narrows it; a token has one book, and limits are no rows. */
const nothingToNarrow: ReadonlySet<string> = new Set([
  ...['/book', '/rate-limits'],
  ...['/teams', '/sports', '/sports/market-types', '/market-clarifications'],
  ...['/data/pre-migration-orders', '/rewards/user', '/rewards/user/total'],
  ...['/rewards/user/percentages', '/rewards/user/markets'],
]);

const unservedByPath: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  reads.map(({ path }) => [
    path,
    unservedBut(nothingToNarrow.has(path) ? knownFilters : declaredBy(path)),
  ]),
);

/** The known filters that are not among the served ones. */
function unservedBut(served: Iterable<string>): ReadonlySet<string> {
  const left = new Set(knownFilters);
  for (const name of served) left.delete(name);
  return left;
}

/** Known filters that GET of the path does not serve. */
export function unservedFiltersOf(path: string): ReadonlySet<string> {
  return unservedByPath.get(path) ?? knownFilters;
}

/**
 * Refuses a request by the first of these filters that it names with a value: without that filter its answer would have
 * what the client does not want, and a look-up would take it (conventions.md 1.2).
 */
export function refusedFilter(
  query: RawQuery,
  filters: ReadonlySet<string>,
  family: RouteFamily,
): ReadRefusal | null {
  for (const name in query) {
    if (!filters.has(name) || query[name] === '') continue;
    return refusedRead(family === 'data' ? 'unknown_field' : 'unserved_filter', { name });
  }
  return null;
}
