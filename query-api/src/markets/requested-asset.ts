import type { AskedAsset } from '@pm/schemas';
import type { Catalog, Listing } from './catalog.ts';

/** The listing that a filter names in either form; undefined when there is none. */
export function listingAsked(
  catalog: Pick<Catalog, 'listing' | 'byCondition'>,
  asked: AskedAsset,
): Listing | undefined {
  if ('token' in asked) return catalog.listing(asked.token);
  const market = catalog.byCondition(asked.condition);
  return market === undefined ? undefined : catalog.listing(market.tokens[asked.outcome]);
}
