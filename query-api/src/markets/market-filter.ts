import { type ConditionId, parseConditionId } from '@pm/schemas';
import type { QueryReader } from '../door/query-reader.ts';
import type { Catalog } from './catalog.ts';
import { parseCatalogId } from './catalog-id.ts';

/** Conditions a query may name. */
const conditionsMax = 500;
/** Events a query may name: their markets travel in the address of a statement, of which ClickHouse takes a megabyte. */
const eventsMax = 100;

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
