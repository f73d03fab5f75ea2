import { parseTokenId, type TokenId, tokensPerRequestMax } from '@pm/schemas';
import type { RawQuery } from '../door/query-reader.ts';
import { ReadRefusal, refusals } from '../door/refusal.ts';
import type { Catalog } from '../markets/catalog.ts';
import type { Listing } from '../markets/market.ts';

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

/** One element of a batch; `side` null when it was not given. */
export interface TokenItem {
  readonly token: TokenId;
  readonly side: 'BUY' | 'SELL' | null;
}

/** The body `[{"token_id": ..., "side"?: ...}]`, at most 500, or why not. */
export function readTokenItems(body: unknown): readonly TokenItem[] | ReadRefusal {
  if (!Array.isArray(body)) return refusals.invalidPayload;
  if (body.length > tokensPerRequestMax) return refusals.payloadTooLarge;
  const items: TokenItem[] = [];
  for (const given of body as readonly unknown[]) {
    const item = readItem(given);
    if (item instanceof ReadRefusal) return item;
    items.push(item);
  }
  return items;
}

function readItem(given: unknown): TokenItem | ReadRefusal {
  if (typeof given !== 'object' || given === null) return refusals.invalidPayload;
  const { token_id: text, side } = given as { token_id?: unknown; side?: unknown };
  const token = typeof text === 'string' ? parseTokenId(text) : null;
  if (token === null) return refusals.invalidPayload;
  if (side === undefined || side === null || side === '') return { token, side: null };
  return side === 'BUY' || side === 'SELL' ? { token, side } : refusals.invalidSide;
}

/**
 * The same out of the query: `token_ids` and, if it is given, as many `sides`; commas or repeated keys (conventions.md
 * 1.2).
 */
export function readTokenLists(query: RawQuery): readonly TokenItem[] | ReadRefusal {
  const tokens = textsIn(query['token_ids']);
  const sides = textsIn(query['sides']);
  if (tokens.length === 0) return refusals.invalidPayload;
  if (tokens.length > tokensPerRequestMax) return refusals.payloadTooLarge;
  if (sides.length > 0 && sides.length !== tokens.length) return refusals.invalidPayload;
  const items: TokenItem[] = [];
  for (const [index, text] of tokens.entries()) {
    const item = readItem({ token_id: text, side: sides[index] });
    if (item instanceof ReadRefusal) return item;
    items.push(item);
  }
  return items;
}

function textsIn(given: RawQuery[string]): readonly string[] {
  if (given === undefined || given === '') return [];
  return (typeof given === 'string' ? [given] : given).flatMap((text) => text.split(','));
}

/** One item of a batch that is listed. */
export interface ListedItem {
  readonly listing: Listing;
  readonly side: 'BUY' | 'SELL' | null;
}

/** Listings of the items that are listed; the others are left out of answers. */
export function listedItems(catalog: Catalog, items: readonly TokenItem[]): readonly ListedItem[] {
  return items.flatMap(({ token, side }) => {
    const listing = catalog.listing(token);
    return listing === undefined ? [] : [{ listing, side }];
  });
}

/** The listings whose quotes the displayed prices of markets are made of, each once. */
export function pricedBy(markets: readonly Listing['market'][]): readonly Listing[] {
  return [...new Set(markets)].map((market) => ({ market, outcome: 0, token: market.tokens[0] }));
}
