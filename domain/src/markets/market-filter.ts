import { type AskedAsset, type ConditionId, parseConditionId } from '@pm/schemas/ids';
import { parseCatalogId, type QueryReader } from '../reading/query-reader.ts';
import type { Catalog } from './catalog.ts';
import type { Listing, Market, Outcome } from './market.ts';

/** Conditions a query may name. */
const conditionsMax = 500;
/**
 * Events a query may name: their markets travel in the address of a statement, of which ClickHouse takes a megabyte.
 */
export const eventsMax = 100;

/** Markets a query names by condition, by event, or not at all. */
export interface MarketFilter {
  readonly conditions: readonly ConditionId[] | null;
  readonly eventIds: readonly string[] | null;
}

export function readMarketFilter(read: QueryReader): MarketFilter {
  return {
    conditions: read.list('market', conditionsMax, parseConditionId),
    eventIds: read.list('eventId', eventsMax, parseCatalogId),
  };
}

/** Numbers of the markets that pass; null when all do. Unknown conditions and events have none. */
export function marketNumbers(
  catalog: Catalog,
  { conditions, eventIds }: MarketFilter,
): readonly number[] | null {
  if (conditions === null && eventIds === null) return null;
  const ofEvents = (eventIds ?? []).flatMap((id) => catalog.marketsOf(id));
  const named = (conditions ?? []).flatMap((condition) => catalog.byCondition(condition) ?? []);
  if (conditions === null) return unique(ofEvents.map(({ market }) => market));
  if (eventIds === null) return unique(named.map(({ market }) => market));
  return unique(
    named.filter(({ eventId }) => eventIds.includes(eventId)).map(({ market }) => market),
  );
}

function unique(numbers: readonly number[]): readonly number[] {
  return [...new Set(numbers)];
}

/** The market of a number or a condition id. */
export function marketNamed(catalog: Catalog, text: string): Market | undefined {
  const condition = parseConditionId(text);
  return condition === null ? catalog.marketById(text) : catalog.byCondition(condition);
}

/** The listing that a filter names in either form; undefined when there is none. */
export function requestedListing(
  catalog: Pick<Catalog, 'listing' | 'byCondition'>,
  requested: AskedAsset,
): Listing | undefined {
  if ('token' in requested) return catalog.listing(requested.token);
  const market = catalog.byCondition(requested.condition);
  return market === undefined ? undefined : catalog.listing(market.tokens[requested.outcome]);
}

/** The market and outcome that a query names; null is any. */
export interface RequestedPlace {
  readonly market: number | null;
  readonly outcome: Outcome | null;
}

/** Null when a condition or asset is not listed, or the two do not agree: then nothing can be found. */
export function requestedPlace(
  catalog: Catalog,
  { condition, asset }: { readonly condition: string | null; readonly asset: AskedAsset | null },
): RequestedPlace | null {
  const named = condition === null ? undefined : catalog.byCondition(condition);
  if (condition !== null && named === undefined) return null;
  if (asset === null) return { market: named?.market ?? null, outcome: null };
  const listing = requestedListing(catalog, asset);
  if (listing === undefined || (named !== undefined && named !== listing.market)) return null;
  return { market: listing.market.market, outcome: listing.outcome };
}
