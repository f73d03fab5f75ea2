import { type Side, sideOf } from '@pm/domain/books/quote';
import type { Catalog } from '@pm/domain/markets/catalog';
import type { Listing } from '@pm/domain/markets/market';
import type { RawQuery } from '@pm/domain/reading/query-reader';
import { ReadRefusal, refusals } from '@pm/domain/reading/refusal';
import { tokensPerRequestMax } from '@pm/schemas/http/reading';
import { parseTokenId } from '@pm/schemas/ids';

/** Null: both. */
export type RequestedSide = Side | null;

/** A request for many tokens; those that are not listed are left out. */
export interface TokenBatch {
  /** In the requested order, as often as requested. */
  readonly listings: readonly Listing[];
  /** The side of each of them. */
  readonly sides: readonly RequestedSide[];
  /** Each token once, by its first place. */
  readonly distinct: readonly DistinctToken[];
}

export interface DistinctToken {
  /** In `listings`. */
  readonly place: number;
  /** The token as the key of a JSON object, with its colon. */
  readonly key: string;
  readonly wantsBuy: boolean;
  readonly wantsSell: boolean;
}

type Listings = Pick<Catalog, 'listing' | 'listingsVersion'>;

/**
 * Reads batches. Of a body that requests share (`repeatsBodies`; it is frozen) the batch is kept as long as no listing
 * has changed.
 */
export class TokenBatches {
  readonly #catalog: Listings;
  readonly #known = new WeakMap<object, { readonly version: number; readonly batch: TokenBatch }>();

  constructor(catalog: Listings) {
    this.#catalog = catalog;
  }

  /** The body `[{"token_id": ..., "side"?: ...}]`, at most 500, or why not. */
  ofBody(body: unknown): TokenBatch | ReadRefusal {
    if (!Array.isArray(body)) return refusals.invalidPayload;
    if (!Object.isFrozen(body)) return this.#read(body);
    const version = this.#catalog.listingsVersion;
    const known = this.#known.get(body);
    if (known?.version === version) return known.batch;
    const batch = this.#read(body);
    if (!(batch instanceof ReadRefusal)) this.#known.set(body, { version, batch });
    return batch;
  }

  /**
   * The batch out of a query: `token_ids` and, if given, as many `sides`, separated by commas or as repeated keys
   * (conventions.md 1.2); or the refusal.
   */
  ofQuery(query: RawQuery): TokenBatch | ReadRefusal {
    const tokens = textsIn(query['token_ids']);
    const sides = textsIn(query['sides']);
    if (tokens.length === 0) return refusals.invalidPayload;
    if (tokens.length > tokensPerRequestMax) return refusals.payloadTooLarge;
    if (sides.length > 0 && sides.length !== tokens.length) return refusals.invalidPayload;
    return this.#read(tokens.map((token_id, index) => ({ token_id, side: sides[index] })));
  }

  #read(given: readonly unknown[]): TokenBatch | ReadRefusal {
    if (given.length > tokensPerRequestMax) return refusals.payloadTooLarge;
    const listings: Listing[] = [];
    const sides: RequestedSide[] = [];
    for (const one of given) {
      const item = this.#item(one);
      if (item instanceof ReadRefusal) return item;
      if (item.listing === undefined) continue;
      listings.push(item.listing);
      sides.push(item.side);
    }
    return { listings, sides, distinct: distinctOf(listings, sides) };
  }

  /** Whatever the catalog lists is a token id. */
  #item(
    given: unknown,
  ): { readonly listing: Listing | undefined; readonly side: RequestedSide } | ReadRefusal {
    if (typeof given !== 'object' || given === null) return refusals.invalidPayload;
    const { token_id: text, side } = given as { token_id?: unknown; side?: unknown };
    if (typeof text !== 'string') return refusals.invalidPayload;
    const listing = this.#catalog.listing(text);
    if (listing === undefined && parseTokenId(text) === null) return refusals.invalidPayload;
    if (side === undefined || side === null || side === '') return { listing, side: null };
    const known = sideOf(side);
    return known === null ? refusals.invalidSide : { listing, side: known };
  }
}

function distinctOf(
  listings: readonly Listing[],
  sides: readonly RequestedSide[],
): readonly DistinctToken[] {
  const distinct: DistinctToken[] = [];
  /** In `distinct`, by market and outcome: numbers are found several times faster than tokens. */
  const places = new Map<number, number>();
  for (const [place, { token, market, outcome }] of listings.entries()) {
    const side = sides[place] ?? null;
    const [wantsBuy, wantsSell] = [side !== 'SELL', side !== 'BUY'];
    const name = 2 * market.market + outcome;
    const at = places.get(name);
    const before = at === undefined ? undefined : distinct[at];
    if (at === undefined || before === undefined) {
      places.set(name, distinct.length);
      distinct.push({ place, key: `"${token}":`, wantsBuy, wantsSell });
    } else {
      distinct[at] = {
        ...before,
        wantsBuy: before.wantsBuy || wantsBuy,
        wantsSell: before.wantsSell || wantsSell,
      };
    }
  }
  return distinct;
}

function textsIn(given: RawQuery[string]): readonly string[] {
  if (given === undefined || given === '') return [];
  return (typeof given === 'string' ? [given] : given).flatMap((text) => text.split(','));
}
