import type { AskedAsset } from '@pm/schemas';
import type { Catalog, Outcome } from './catalog.ts';
import { listingAsked } from './requested-asset.ts';

/** The market and outcome that a query names; null is any. */
export interface AskedPlace {
  readonly market: number | null;
  readonly outcome: Outcome | null;
}

/** Null when a condition or asset is not listed, or the two do not agree: then nothing can be found. */
export function placeAsked(
  catalog: Catalog,
  { condition, asset }: { readonly condition: string | null; readonly asset: AskedAsset | null },
): AskedPlace | null {
  const named = condition === null ? undefined : catalog.byCondition(condition);
  if (condition !== null && named === undefined) return null;
  if (asset === null) return { market: named?.market ?? null, outcome: null };
  const listing = listingAsked(catalog, asset);
  if (listing === undefined || (named !== undefined && named !== listing.market)) return null;
  return { market: listing.market.market, outcome: listing.outcome };
}
