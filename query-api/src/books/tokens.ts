import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import type { RawQuery } from '@pm/domain/reading/query-reader';
import { type ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { parseTokenId } from '@pm/schemas/ids';

/** The listing of the parameter `token_id`; refuses what is no token id, and with `unknown` what is not listed. */
export function listingIn(
  catalog: Catalog,
  given: RawQuery[string],
  unknown: ReadRefusal = refusals.noBook,
): Listing | ReadRefusal {
  const token = typeof given === 'string' ? parseTokenId(given) : null;
  if (token === null) return refusals.invalidToken;
  return catalog.listing(token) ?? unknown;
}

/** The listings whose quotes the displayed prices of markets are made of, each once. */
export function pricedBy(markets: readonly Listing['market'][]): readonly Listing[] {
  return [...new Set(markets)].map((market) => ({ market, outcome: 0, token: market.tokens[0] }));
}
