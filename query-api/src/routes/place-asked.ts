import type { Catalog, Outcome } from '../core/catalog.ts';

/** The market and outcome that a query names; null is any. */
export interface AskedPlace {
  readonly market: number | null;
  readonly outcome: Outcome | null;
}

/** Null when a condition or token is not listed, or the two do not agree: then nothing can be found. */
export function placeAsked(
  catalog: Catalog,
  { condition, token }: { readonly condition: string | null; readonly token: string | null },
): AskedPlace | null {
  const named = condition === null ? undefined : catalog.byCondition(condition);
  if (condition !== null && named === undefined) return null;
  if (token === null) return { market: named?.market ?? null, outcome: null };
  const listing = catalog.listing(token);
  if (listing === undefined || (named !== undefined && named !== listing.market)) return null;
  return { market: listing.market.market, outcome: listing.outcome };
}
